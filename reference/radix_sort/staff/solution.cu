// Radix sort with digits of 8 bits, the lowest first: four passes, each of which reads and writes every key once.
//
// The place of a key is the number of keys with a smaller digit and of keys with the same digit ahead of it. For the
// former the digits of all four passes are counted at the beginning, in one read of x: moving keys does not change how
// many there are. The latter are found tile by tile.
// - A warp ranks 32 keys at a time by votes: eight of them tell each lane which lanes have the same digit.
// - A tile publishes how many keys it has of each digit, and adds up what the tiles ahead of it have published. Once it
//   knows the sum it publishes that, too, so those behind it need not go further back ("decoupled look-back").
// - Keys go through shared memory into the order of their digits. So neighbouring threads write neighbouring places.
//
// A tile waits for those ahead of it. It takes its number when it starts (`ticket`), so all of them have started.
#include <climits>
#include <cstdint>
#include <cuda_runtime.h>

constexpr unsigned kAll = 0xffffffffu;
constexpr int kPasses = 4;
constexpr int kBits = 8;
constexpr int kDigits = 1 << kBits;
constexpr int kThreads = 512;
constexpr int kWarps = kThreads / 32;
constexpr int kItems = 14;  // keys of a thread
constexpr int kTile = kThreads * kItems;
constexpr int kFlight = 4;  // 16-byte loads that a thread has under way at once while it counts
constexpr int kWindow = 8;  // tiles that it looks back at, at once

// The board has a word for each digit of each tile: 0 while nothing is known, the tile's own keys plus 1, or, with the
// highest bit set, those of this and all earlier tiles.
constexpr uint32_t kWhole = 0x80000000u;

// Relaxed access is enough: a word says everything, and no other data depends on it.
inline __device__ uint32_t peek(const uint32_t* p) {
    uint32_t v;
    asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
    return v;
}
inline __device__ void post(uint32_t* p, uint32_t v) {
    asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(p), "r"(v) : "memory");
}

// The highest bit is the sign: flipped, it puts negative keys ahead of the others.
inline __device__ unsigned digit_of(uint32_t key, int pass) {
    const unsigned flip = pass == kPasses - 1 ? kDigits / 2 : 0;
    return (key >> (kBits * pass) & (kDigits - 1)) ^ flip;
}

inline __device__ void count_key(unsigned (*counts)[kDigits], uint32_t key) {
#pragma unroll
    for (int pass = 0; pass < kPasses; ++pass) atomicAdd(&counts[pass][digit_of(key, pass)], 1u);
}

// totals[pass][digit]: how many keys have it.
__global__ void __launch_bounds__(kThreads) count_digits(const uint32_t* x, uint32_t* totals, int64_t n) {
    __shared__ unsigned counts[kPasses][kDigits];
    for (int i = threadIdx.x; i < kPasses * kDigits; i += kThreads) counts[i / kDigits][i % kDigits] = 0;
    __syncthreads();

    const uint4* fours = reinterpret_cast<const uint4*>(x);  // arrays begin at a multiple of 256 bytes
    const int64_t whole = n / 4;
    const int64_t stride = static_cast<int64_t>(gridDim.x) * kThreads * kFlight;
    for (int64_t first = static_cast<int64_t>(blockIdx.x) * kThreads * kFlight; first < whole; first += stride) {
        uint4 own[kFlight];
#pragma unroll
        for (int f = 0; f < kFlight; ++f) {
            const int64_t i = first + f * kThreads + threadIdx.x;
            if (i < whole) own[f] = fours[i];
        }
#pragma unroll
        for (int f = 0; f < kFlight; ++f) {
            if (first + f * kThreads + threadIdx.x >= whole) continue;
            count_key(counts, own[f].x);
            count_key(counts, own[f].y);
            count_key(counts, own[f].z);
            count_key(counts, own[f].w);
        }
    }
    if (blockIdx.x == 0 && whole * 4 + threadIdx.x < n) count_key(counts, x[whole * 4 + threadIdx.x]);
    __syncthreads();
    for (int i = threadIdx.x; i < kPasses * kDigits; i += kThreads) {
        const unsigned count = counts[i / kDigits][i % kDigits];
        if (count != 0) atomicAdd(&totals[i], count);
    }
}

// Sums over the digits up to this thread's, for blocks of up to kThreads. Called by all threads.
__device__ uint32_t up_to_here(uint32_t value) {
    __shared__ uint32_t sums[kWarps];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
#pragma unroll
    for (int d = 1; d < 32; d *= 2) {
        const uint32_t below = __shfl_up_sync(kAll, value, d);
        if (lane >= d) value += below;
    }
    if (lane == 31) sums[warp] = value;
    __syncthreads();
    for (int w = 0; w < warp; ++w) value += sums[w];
    return value;
}

// Block `pass` makes of its totals where each digit begins.
__global__ void __launch_bounds__(kDigits) find_begins(uint32_t* totals) {
    uint32_t* own = totals + blockIdx.x * kDigits + threadIdx.x;
    const uint32_t count = *own;
    *own = up_to_here(count) - count;
}

template <int kPass>
__global__ void __launch_bounds__(kThreads, 2)
    move(const uint32_t* from, uint32_t* to, const uint32_t* begins, uint32_t* board, uint32_t* ticket, int64_t n) {
    // Counts of each warp; later, when nobody needs them, the keys in order.
    __shared__ union {
        uint32_t counts[kWarps][kDigits];
        uint32_t keys[kTile];
    } s;
    __shared__ uint32_t places[kDigits];  // of a digit's first key, less its place in s.keys
    __shared__ uint32_t number;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const unsigned lower = (1u << lane) - 1;

    if (threadIdx.x == 0) number = atomicAdd(ticket, 1u);
    for (int i = threadIdx.x; i < kWarps * kDigits; i += kThreads) s.counts[i / kDigits][i % kDigits] = 0;
    __syncthreads();
    const int64_t tile = number;
    const int64_t first = tile * kTile;
    const int length = static_cast<int>(n - first < kTile ? n - first : kTile);

    // A warp has 448 keys that are next to each other, and takes 32 neighbours at a time: in the order of the array.
    uint32_t own[kItems];
#pragma unroll
    for (int i = 0; i < kItems; ++i) {
        const int at = (warp * kItems + i) * 32 + lane;
        // Behind the end there is the largest key, whose digits are all the largest: it stays at the end of the tile.
        own[i] = at < length ? from[first + at] : INT_MAX;
    }

    uint32_t* counts = s.counts[warp];
    uint32_t place[kItems];
#pragma unroll
    for (int i = 0; i < kItems; ++i) {
        const unsigned digit = digit_of(own[i], kPass);
        unsigned same = kAll;  // lanes with this digit
#pragma unroll
        for (int b = 0; b < kBits; ++b) {
            const bool one = digit >> b & 1;
            const unsigned ones = __ballot_sync(kAll, one);
            same &= one ? ones : ~ones;
        }
        const uint32_t ahead = counts[digit];  // in this warp, of the rows before
        __syncwarp();
        if ((same & lower) == 0) counts[digit] = ahead + __popc(same);
        __syncwarp();
        place[i] = ahead + __popc(same & lower);
    }
    __syncthreads();

    uint32_t total = 0;  // of digit threadIdx.x
    uint32_t* word = board + tile * kDigits + threadIdx.x;
    if (threadIdx.x < kDigits) {
        for (int w = 0; w < kWarps; ++w) total += s.counts[w][threadIdx.x];
        post(word, tile == 0 ? kWhole | total : total + 1);
    }
    const uint32_t begin = up_to_here(total) - total;  // of the digit, in the tile
    if (threadIdx.x < kDigits) {
        uint32_t next = begin;
        for (int w = 0; w < kWarps; ++w) {
            const uint32_t count = s.counts[w][threadIdx.x];
            s.counts[w][threadIdx.x] = next;
            next += count;
        }
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < kItems; ++i) place[i] += counts[digit_of(own[i], kPass)];
    __syncthreads();  // all have read the counts
#pragma unroll
    for (int i = 0; i < kItems; ++i) s.keys[place[i]] = own[i];

    if (threadIdx.x < kDigits) {
        uint32_t before = 0;  // keys with this digit in the tiles from `back` on, up to this one
        int64_t back = tile;
        bool whole = tile == 0;
        while (!whole) {
            uint32_t words[kWindow];  // all under way before any is looked at
#pragma unroll
            for (int k = 0; k < kWindow; ++k) {
                words[k] = kWhole;  // ahead of the first tile there is nothing
                if (back - 1 - k >= 0) words[k] = peek(board + (back - 1 - k) * kDigits + threadIdx.x);
            }
            bool known = true;
            int64_t next = back;
#pragma unroll
            for (int k = 0; k < kWindow; ++k) {
                known = known && !whole && words[k] != 0;
                if (known) {
                    whole = (words[k] & kWhole) != 0;
                    before += whole ? words[k] & ~kWhole : words[k] - 1;
                    --next;
                }
            }
            back = next;  // what is not known yet is asked for again
        }
        if (tile != 0) post(word, kWhole | (before + total));
        places[threadIdx.x] = begins[threadIdx.x] + before - begin;
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < kItems; ++i) {
        const int at = i * kThreads + threadIdx.x;
        const uint32_t key = s.keys[at];
        if (at < length) to[places[digit_of(key, kPass)] + at] = key;
    }
}

extern "C" void solve(const int32_t* x, int32_t* out, int64_t n) {
    if (n == 0) return;  // a grid of 0 blocks is a launch error
    const unsigned tiles = static_cast<unsigned>((n + kTile - 1) / kTile);
    const size_t board_bytes = static_cast<size_t>(tiles) * kDigits * sizeof(uint32_t);
    constexpr size_t kCounters = kPasses * kDigits + kPasses;
    uint32_t *scratch = nullptr, *spare = nullptr;
    if (cudaMallocAsync(reinterpret_cast<void**>(&spare), n * sizeof(uint32_t), 0) != cudaSuccess) return;
    if (cudaMallocAsync(reinterpret_cast<void**>(&scratch), kCounters * sizeof(uint32_t) + board_bytes, 0) !=
        cudaSuccess) {
        cudaFreeAsync(spare, 0);
        return;
    }
    uint32_t *begins = scratch, *tickets = scratch + kPasses * kDigits, *board = scratch + kCounters;
    const uint32_t* keys = reinterpret_cast<const uint32_t*>(x);
    uint32_t* result = reinterpret_cast<uint32_t*>(out);

    cudaMemsetAsync(scratch, 0, kCounters * sizeof(uint32_t), 0);
    int device = 0, processors = 0;
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
    const unsigned counting = static_cast<unsigned>(processors) * 4;
    count_digits<<<tiles < counting ? tiles : counting, kThreads>>>(keys, begins, n);
    find_begins<<<kPasses, kDigits>>>(begins);

    auto clear = [&] { cudaMemsetAsync(board, 0, board_bytes, 0); };
    clear();
    move<0><<<tiles, kThreads>>>(keys, spare, begins, board, tickets, n);
    clear();
    move<1><<<tiles, kThreads>>>(spare, result, begins + kDigits, board, tickets + 1, n);
    clear();
    move<2><<<tiles, kThreads>>>(result, spare, begins + 2 * kDigits, board, tickets + 2, n);
    clear();
    move<3><<<tiles, kThreads>>>(spare, result, begins + 3 * kDigits, board, tickets + 3, n);
    cudaFreeAsync(scratch, 0);
    cudaFreeAsync(spare, 0);
}
