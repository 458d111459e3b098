// Run-length encoding in a single pass: everything is read once, each run is written once, no load waits for a count.
//
// A head is an element that differs from the one before. Head number p says two things: values[p], and that run p - 1
// ends here. So it writes values[p] and lengths[p - 1], for which it needs p and the place of the head before.
//
// As many blocks start as run at the same time. They take tiles in rounds: of B blocks, block b has the tiles b, B + b,
// 2 B + b, ... What a tile needs of all others is how many heads are ahead of it and where the last of them is. Each
// block adds that up by itself, from one word for each tile of the same round and a carry of earlier rounds: there is
// no chain from tile to tile.
// - A ring of kStages tiles in shared memory is filled by bulk copies (TMA), so the next tiles are under way whatever
//   this one waits for.
// - A tile's word is posted as soon as its heads are counted; its runs are written kLag tiles later. By then the words
//   of the other blocks have mostly arrived. In between, a thread keeps its heads as 12 bits in a register.
// - One warp loads, one gathers words, the others look at elements.
// Each block waits for all others, so all have to run: the cooperative launch guarantees that.
//
// Bulk copies need compute capability 9.0. Other GPUs take two simple passes (at the end), which read everything twice.
#include <cstdint>
#include <cuda_runtime.h>

constexpr unsigned kAll = 0xffffffffu;
constexpr int kThreads = 256;  // that look at elements
constexpr int kWarps = kThreads / 32;
constexpr int kBlockThreads = kThreads + 64;  // and two warps more: one that loads, one that gathers
constexpr int kBlocks = 2;                    // to a multiprocessor
// Neighbouring elements of a thread. Threads are 48 bytes apart, so eight reads of 16 bytes meet all banks.
constexpr int kItems = 12;
constexpr int kWarpTile = 32 * kItems;
constexpr int kTile = kWarps * kWarpTile;  // 3072 elements, 12 KiB
constexpr int kFront = 4;                  // elements ahead of a tile: the last one is compared with its first
constexpr int kStages = 8;                 // tiles of a block on chip
constexpr int kLag = 4;                    // tiles between a tile's word and its runs
constexpr int kWords = 5 * kBlocks;        // that each lane gathers: enough for 160 multiprocessors
// kLag + 1 tiles are between word and runs: at least one more is being loaded.
static_assert(kStages >= kLag + 2, "a stage is free for loading");

// The word of a tile: how many heads it has, and the place of the last one within it plus 1 (0: none).
constexpr int kShift = 12;
constexpr unsigned kMask = (1u << kShift) - 1;
static_assert(kTile <= kMask && kItems <= kShift, "both numbers fit");
constexpr uint32_t kNothing = 0xffffffffu;  // the word is not known yet; no tile has as many heads
__device__ inline uint32_t packed(int heads, int last) {
    return static_cast<uint32_t>(heads) | static_cast<uint32_t>(last) << kShift;
}

// Relaxed access is enough: the one word says everything, and nobody reads other data on the strength of it.
__device__ inline uint32_t peek(const uint32_t* p) {
    uint32_t v;
    asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
    return v;
}
__device__ inline void post(uint32_t* p, uint32_t v) {
    asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(p), "r"(v) : "memory");
}

// An mbarrier in shared memory goes from phase to phase. A phase ends when `count` threads have arrived and all bytes
// that were announced have been copied; the next begins at once. bar_wait(b, 0) waits for the end of the first phase,
// bar_wait(b, 1) for that of the second, and so on in turn.
using Bar = uint64_t;
__device__ inline uint32_t at(const void* p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }
__device__ inline void bar_init(Bar* b, int count) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(at(b)), "r"(count) : "memory");
}
__device__ inline void bar_init_fence() {  // bulk copies, too, are to see the barriers that were made
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}
__device__ inline void bar_arrive(Bar* b) {
    asm volatile("{ .reg .b64 s; mbarrier.arrive.shared::cta.b64 s, [%0]; }" ::"r"(at(b)) : "memory");
}
// Arrives, and announces bytes: the phase does not end before a bulk copy has brought as many.
__device__ inline void bar_expect(Bar* b, uint32_t bytes) {
    asm volatile("{ .reg .b64 s; mbarrier.arrive.expect_tx.shared::cta.b64 s, [%0], %1; }" ::"r"(at(b)), "r"(bytes)
                 : "memory");
}
__device__ inline void bar_wait(Bar* b, uint32_t parity) {
    asm volatile("{ .reg .pred p; again: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;"  // sleeps itself
                 "@p bra done; bra again; done: }" ::"r"(at(b)), "r"(parity) : "memory");
}
// What a thread has done in shared memory by ordinary accesses comes before later bulk copies only with this fence.
__device__ inline void async_fence() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
// Addresses and sizes of bulk copies are multiples of 16.
__device__ inline void bulk_load(void* to, const void* from, uint32_t bytes, Bar* b) {
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
                 ::"r"(at(to)), "l"(from), "r"(bytes), "r"(at(b)) : "memory");
}
// As __syncthreads, among `count` threads of the block.
__device__ inline void named_barrier(int id, int count) {
    asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(count) : "memory");
}

// Round r uses stage r % kStages, for the (r / kStages)-th time: so r / kStages & 1 is the parity of its phases.
struct Shared {
    int32_t stage[kStages][kFront + kTile];
    Bar full[kStages];             // loaded
    Bar known[kStages];            // what is ahead of the tile
    Bar read[kStages];             // its runs are written, the stage is free
    int ahead[kStages];            // heads ahead of the tile
    int last_ahead[kStages];       // the place of the last of them
    uint32_t words[2][kWarps];     // of the parts of a tile that warps have
    uint16_t list[kWarps][kWarpTile];  // places of a warp's heads within the tile, in order
};

__global__ void __launch_bounds__(kBlockThreads, kBlocks)
    encode(const int32_t* x, int32_t* values, int32_t* lengths, int64_t* count, uint32_t* board, int n, int tiles) {
#if __CUDA_ARCH__ >= 900  // compiled for an older GPU it is empty, and solve() does not launch it
    extern __shared__ __align__(1024) char raw[];  // beyond 48 KiB it has to be asked for at the launch
    Shared& s = *reinterpret_cast<Shared*>(raw);
    const int lane = threadIdx.x % 32;
    const int warp = threadIdx.x / 32;
    const int blocks = static_cast<int>(gridDim.x);
    const int self = static_cast<int>(blockIdx.x);
    const int rounds = (tiles - self + blocks - 1) / blocks;  // of this block

    if (threadIdx.x == 0) {
        for (int i = 0; i < kStages; ++i) {
            bar_init(&s.full[i], 1);
            bar_init(&s.known[i], 1);
            bar_init(&s.read[i], kWarps);
        }
        bar_init_fence();
    }
    __syncthreads();

    if (warp == kWarps) {  // the loader
        if (lane != 0) return;
        for (int round = 0; round < rounds; ++round) {
            const int i = round % kStages, tile = round * blocks + self;
            if (round >= kStages) bar_wait(&s.read[i], (round / kStages - 1) & 1);
            // The last tile may end anywhere: this loads its whole fours, the others the up to three elements left.
            const int left = n - tile * kTile;
            const int loaded = left >= kTile ? kTile : left / 4 * 4;
            const int front = tile > 0 ? kFront : 0;
            const uint32_t bytes = static_cast<uint32_t>(front + loaded) * sizeof(int32_t);
            bar_expect(&s.full[i], bytes);
            if (bytes > 0) bulk_load(s.stage[i] + kFront - front, x + tile * kTile - front, bytes, &s.full[i]);
        }
        return;
    }

    if (warp == kWarps + 1) {  // the gatherer
        int heads_before = 0, last_before = 0;  // of all rounds so far: how many heads, the place of the last one
        for (int round = 0; round < rounds; ++round) {
            const int first = round * blocks;
            const int here = tiles - first < blocks ? tiles - first : blocks;  // tiles in it
            uint32_t seen[kWords];
#pragma unroll
            for (int i = 0; i < kWords; ++i) {  // all under way before any is looked at
                const int b = i * 32 + lane;
                seen[i] = b < here ? peek(board + first + b) : 0;
            }
            for (;;) {  // look again at all that is missing
                bool missing = false;
#pragma unroll
                for (int i = 0; i < kWords; ++i) missing |= seen[i] == kNothing;
                if (!missing) break;
                __nanosleep(40);  // the board is busy enough
#pragma unroll
                for (int i = 0; i < kWords; ++i) {
                    if (seen[i] == kNothing) seen[i] = peek(board + first + i * 32 + lane);
                }
            }
            unsigned ahead = 0, all = 0, last_ahead = 0, last = 0;
#pragma unroll
            for (int i = 0; i < kWords; ++i) {
                const int b = i * 32 + lane;
                const unsigned place = seen[i] >> kShift;
                // Comparable between tiles. 0: no head.
                const unsigned mark = place == 0 ? 0 : static_cast<unsigned>(b) << kShift | place;
                if (b < self) {
                    ahead += seen[i] & kMask;
                    last_ahead = max(last_ahead, mark);
                }
                all += seen[i] & kMask;
                last = max(last, mark);
            }
            __syncwarp();
            ahead = __reduce_add_sync(kAll, ahead);
            all = __reduce_add_sync(kAll, all);
            last_ahead = __reduce_max_sync(kAll, last_ahead);
            last = __reduce_max_sync(kAll, last);
            auto place_of = [&](unsigned mark) {
                return (first + static_cast<int>(mark >> kShift)) * kTile + static_cast<int>(mark & kMask) - 1;
            };
            if (lane == 0) {
                // This place is free: our own word was among those gathered, so the tile before in this stage is done.
                s.ahead[round % kStages] = heads_before + static_cast<int>(ahead);
                s.last_ahead[round % kStages] = last_ahead == 0 ? last_before : place_of(last_ahead);
                bar_arrive(&s.known[round % kStages]);
            }
            heads_before += static_cast<int>(all);
            if (last != 0) last_before = place_of(last);
            if (lane == 0 && first + self == tiles - 1) {  // no head ends the last run
                lengths[heads_before - 1] = n - last_before;
                *count = heads_before;
            }
        }
        return;
    }

    // The others: in each step they find the heads of a new tile, then write the runs of the tile kLag steps back.
    unsigned found[kLag + 1];            // heads of this thread, one bit each, and how many its warp has below it
    int ahead[kLag + 1], last[kLag + 1];  // of the warps below this one in the tile; the latest tile comes first
#pragma unroll
    for (int i = 0; i <= kLag; ++i) found[i] = 0, ahead[i] = 0, last[i] = 0;
    const int own_first = threadIdx.x * kItems;  // within the tile
    for (int step = 0; step < rounds + kLag; ++step) {
#pragma unroll
        for (int i = kLag; i > 0; --i) found[i] = found[i - 1], ahead[i] = ahead[i - 1], last[i] = last[i - 1];
        if (step < rounds) {
            const int tile = step * blocks + self;
            const int left = n - tile * kTile;
            int32_t* stage = s.stage[step % kStages];
            bar_wait(&s.full[step % kStages], step / kStages & 1);
            if (left < kTile || tile == 0) {
                // What the bulk copy left out. Beyond the end the last element is repeated: no head. Element
                // 0 is always one: something else is put ahead of it.
                if (threadIdx.x == 0 && tile == 0) stage[kFront - 1] = ~x[0];
                for (int i = threadIdx.x; i < kTile; i += kThreads) {
                    if (i >= left / 4 * 4) stage[kFront + i] = x[i < left ? tile * kTile + i : n - 1];
                }
                named_barrier(1, kThreads);
            }
            int32_t own[kItems];
#pragma unroll
            for (int v = 0; v < kItems; v += 4) {
                const int4 four = *reinterpret_cast<const int4*>(stage + kFront + own_first + v);
                own[v] = four.x, own[v + 1] = four.y, own[v + 2] = four.z, own[v + 3] = four.w;
            }
            int32_t before = __shfl_up_sync(kAll, own[kItems - 1], 1);
            if (lane == 0) before = stage[kFront + own_first - 1];
            unsigned heads = own[0] != before;
#pragma unroll
            for (int i = 1; i < kItems; ++i) heads |= static_cast<unsigned>(own[i] != own[i - 1]) << i;
            const int mine = __popc(heads);
            int up_to_here = mine;
#pragma unroll
            for (int d = 1; d < 32; d *= 2) {
                const int below = __shfl_up_sync(kAll, up_to_here, d);
                if (lane >= d) up_to_here += below;
            }
            // The highest lane with a head has the warp's last one.
            const unsigned with_heads = __ballot_sync(kAll, heads != 0);
            const int own_last = own_first + 32 - __clz(static_cast<int>(heads));  // its place plus 1
            const int highest = with_heads == 0 ? 0 : 31 - __clz(static_cast<int>(with_heads));
            const int highest_last = __shfl_sync(kAll, own_last, highest);
            const int warp_last = with_heads == 0 ? 0 : highest_last;
            // Two sets of words by turns: nobody is two steps ahead, so one barrier is enough.
            if (lane == 31) s.words[step % 2][warp] = packed(up_to_here, warp_last);
            named_barrier(1, kThreads);
            int tile_heads = 0, tile_last = 0;
#pragma unroll
            for (int w = 0; w < kWarps; ++w) {
                const uint32_t word = s.words[step % 2][w];
                if (w == warp) ahead[0] = tile_heads, last[0] = tile_last;
                tile_heads += static_cast<int>(word & kMask);
                if (word >> kShift != 0) tile_last = static_cast<int>(word >> kShift);
            }
            if (threadIdx.x == 0) post(board + tile, packed(tile_heads, tile_last));
            found[0] = heads | static_cast<unsigned>(up_to_here - mine) << kShift;
        }
        if (step >= kLag) {
            const int round = step - kLag;
            const int first = (round * blocks + self) * kTile;
            const int32_t* elements = s.stage[round % kStages] + kFront;
            uint16_t* list = s.list[warp];
            // The heads of the warp, one after the other: then each lane has one, and neighbours write side by side.
            unsigned heads = found[kLag] & kMask;
            int place = static_cast<int>(found[kLag] >> kShift);
            for (; heads != 0; heads &= heads - 1)
                list[place++] = static_cast<uint16_t>(own_first + __ffs(static_cast<int>(heads)) - 1);
            const int warp_heads = __shfl_sync(kAll, place, 31);
            __syncwarp();  // the list is complete
            bar_wait(&s.known[round % kStages], round / kStages & 1);
            const int to = s.ahead[round % kStages] + ahead[kLag];
            const int run_before = last[kLag] != 0 ? first + last[kLag] - 1 : s.last_ahead[round % kStages];
            for (int j = lane; j < warp_heads; j += 32) {
                const int here = list[j];
                const int begin = j > 0 ? first + list[j - 1] : run_before;
                values[to + j] = elements[here];
                if (to + j > 0) lengths[to + j - 1] = first + here - begin;
            }
            async_fence();  // these lanes' reading comes before the stage is filled again
            __syncwarp();   // and before the list is
            if (lane == 0) bar_arrive(&s.read[round % kStages]);
        }
    }
#endif
}

// For other GPUs: the array is cut into parts, one for each block. The first pass counts the heads of each part and
// notes the last one; in the second each block adds up what is ahead of its own part, and goes through it kThreads
// elements at a time.
constexpr int kMostParts = 1024;

__device__ bool is_head(const int32_t* x, int64_t i) { return i == 0 || x[i] != x[i - 1]; }

// What `value` sums up to over the threads of the block below this one; `all` becomes the sum over all threads.
__device__ int ahead_in_block(int value, int& all) {
    __shared__ int sums[kWarps];
    const int own = value;
    const int lane = threadIdx.x % 32;
    const int warp = threadIdx.x / 32;
    for (int d = 1; d < 32; d *= 2) {
        const int below = __shfl_up_sync(kAll, value, d);
        if (lane >= d) value += below;
    }
    if (lane == 31) sums[warp] = value;
    __syncthreads();
    int ahead_of_warp = 0;
    all = 0;
    for (int w = 0; w < kWarps; ++w) {
        if (w == warp) ahead_of_warp = all;
        all += sums[w];
    }
    __syncthreads();  // all have read, so the next call may write
    return ahead_of_warp + value - own;
}

// The largest `value` of the threads below this one, or `least`; `all` becomes the largest of all threads.
__device__ int largest_below(int value, int least, int& all) {
    __shared__ int largest[kThreads];
    largest[threadIdx.x] = value;
    __syncthreads();
    for (int d = 1; d < kThreads; d *= 2) {
        const int below = static_cast<int>(threadIdx.x) >= d ? largest[threadIdx.x - d] : least;
        __syncthreads();
        largest[threadIdx.x] = max(largest[threadIdx.x], below);
        __syncthreads();
    }
    const int found = threadIdx.x > 0 ? largest[threadIdx.x - 1] : least;
    all = largest[kThreads - 1];
    __syncthreads();
    return max(found, least);
}

__global__ void __launch_bounds__(kThreads) count_parts(const int32_t* x, int2* parts, int64_t n, int64_t part) {
    const int64_t begin = blockIdx.x * part;
    const int64_t end = begin + part < n ? begin + part : n;
    int heads = 0, last = -1, all_heads, all_last;
    for (int64_t i = begin + threadIdx.x; i < end; i += kThreads) {
        if (is_head(x, i)) ++heads, last = static_cast<int>(i);
    }
    ahead_in_block(heads, all_heads);
    largest_below(last, -1, all_last);
    if (threadIdx.x == 0) parts[blockIdx.x] = make_int2(all_heads, all_last);
}

__global__ void __launch_bounds__(kThreads) encode_parts(const int32_t* x, int32_t* values, int32_t* lengths,
                                                         int64_t* count, const int2* parts, int64_t n, int64_t part) {
    const int64_t begin = blockIdx.x * part;
    const int64_t end = begin + part < n ? begin + part : n;
    int heads = 0, last = -1, carry, last_carry, all, all_last;
    for (unsigned p = threadIdx.x; p < blockIdx.x; p += kThreads) {
        heads += parts[p].x;
        last = max(last, parts[p].y);
    }
    ahead_in_block(heads, carry);
    largest_below(last, -1, last_carry);
    for (int64_t from = begin; from < end; from += kThreads) {
        const int64_t i = from + threadIdx.x;
        const bool head = i < end && is_head(x, i);
        const int place = carry + ahead_in_block(head, all);
        const int before = largest_below(head ? static_cast<int>(i) : -1, last_carry, all_last);
        if (head) {
            values[place] = x[i];
            if (place > 0) lengths[place - 1] = static_cast<int>(i) - before;
        }
        carry += all;
        last_carry = max(last_carry, all_last);
    }
    if (blockIdx.x == gridDim.x - 1 && threadIdx.x == 0) {
        lengths[carry - 1] = static_cast<int>(n) - last_carry;
        *count = carry;
    }
}

void solve_in_two_passes(const int32_t* x, int32_t* values, int32_t* lengths, int64_t* count, int64_t n) {
    const int64_t part = (n / (kMostParts * kThreads) + 1) * kThreads;
    const unsigned blocks = static_cast<unsigned>((n + part - 1) / part);
    int2* parts = nullptr;
    if (cudaMallocAsync(reinterpret_cast<void**>(&parts), blocks * sizeof(int2), 0) != cudaSuccess) return;
    count_parts<<<blocks, kThreads>>>(x, parts, n, part);
    encode_parts<<<blocks, kThreads>>>(x, values, lengths, count, parts, n, part);
    cudaFreeAsync(parts, 0);
}

extern "C" void solve(const int32_t* x, int32_t* values, int32_t* lengths, int64_t* count, int64_t n) {
    if (n == 0) {
        cudaMemsetAsync(count, 0, sizeof(int64_t), 0);  // nothing to look at, but the answer is 0
        return;
    }
    // The kernel is there if it was compiled for 9.0 or newer, which no older GPU runs. Of the newer ones not all have
    // 105 KiB of shared memory for a block.
    int device = 0, processors = 0, most_shared = 0, fit = 0;
    cudaFuncAttributes compiled = {};
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
    cudaDeviceGetAttribute(&most_shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
    cudaFuncGetAttributes(&compiled, encode);
    if (compiled.ptxVersion < 90 || most_shared < static_cast<int>(sizeof(Shared)))
        return solve_in_two_passes(x, values, lengths, count, n);

    // As many blocks as run at the same time, but no more than there are tiles or the gatherer has words for.
    cudaFuncSetAttribute(encode, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(sizeof(Shared)));
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fit, encode, kBlockThreads, sizeof(Shared));
    int elements = static_cast<int>(n), tiles = static_cast<int>((n + kTile - 1) / kTile);
    int grid = processors * (fit < kBlocks ? fit : kBlocks);
    if (grid > 32 * kWords) grid = 32 * kWords;
    if (grid > tiles) grid = tiles;
    uint32_t* board = nullptr;
    if (cudaMallocAsync(reinterpret_cast<void**>(&board), tiles * sizeof(uint32_t), 0) != cudaSuccess) return;
    cudaMemsetAsync(board, kNothing & 0xff, tiles * sizeof(uint32_t), 0);  // byte by byte
    void* arguments[] = {&x, &values, &lengths, &count, &board, &elements, &tiles};
    cudaLaunchCooperativeKernel(encode, static_cast<unsigned>(grid), kBlockThreads, arguments, sizeof(Shared), 0);
    cudaFreeAsync(board, 0);
}
