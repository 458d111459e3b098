// Segmented prefix sum in a single pass: everything is read once and written once, and no load waits for a sum.
//
// Only as many blocks start as run at the same time. They take the tiles in rounds: of B blocks, block b has tiles b,
// B + b, 2 B + b, ... Each publishes two things about a tile as soon as it is loaded: the sum since the tile's last
// flag, and whether it has a flag. What a tile begins with is the total of these sums, beginning with that of the last
// tile with a flag.
// Each block adds that up by itself, so nobody waits for more than single tiles.
// - A ring of kStages tiles in shared memory is filled and emptied by bulk copies (TMA), ahead of their use.
// - A tile is finished kLag tiles after its sum is published. By then the sums of the other blocks have mostly arrived.
// - There are three kinds of warps: one moves data, one gathers sums, the others add.
// Sums are selected, never subtracted or multiplied by 0, so NaN, infinities and rounding errors end with their
// segment.
// Each block waits for all others, so all have to run at the same time. The cooperative launch guarantees it.
//
// Bulk copies need compute capability 9.0. Other GPUs take two simple passes (at the end).
#include <cstdint>
#include <cuda_runtime.h>

constexpr unsigned kAll = 0xffffffffu;
constexpr int kThreads = 256;  // that add
constexpr int kWarps = kThreads / 32;
constexpr int kBlockThreads = kThreads + 64;  // and two warps more: one that moves, one that gathers
constexpr int kBlocks = 2;                    // to a multiprocessor
constexpr int kVectors = 3;                   // float4s of each thread, next to each other in memory
constexpr int kItems = 4 * kVectors;
constexpr int kTile = kThreads * kItems;  // 3072 elements: 12 KiB of values and 3 KiB of flags
constexpr int kStages = 7;                // tiles of a block on chip
constexpr int kLag = 3;                   // tiles between the sum of a tile and its results
constexpr int kWords = 5 * kBlocks;       // that each lane gathers: enough for 160 multiprocessors
// A 16-byte access is served to eight lanes at a time. Theirs are an odd number of float4s apart, so that all eight are
// in different banks. The same holds for the flags: three words for each thread.
static_assert(kVectors % 2 == 1);
// kLag + 1 tiles are between sum and results, one is being stored: at least one more is being loaded.
static_assert(kStages >= kLag + 3);

// A tile's word: the bits of its sum, and above them one of these.
constexpr uint64_t kNoFlag = uint64_t{1} << 32;
constexpr uint64_t kFlag = uint64_t{2} << 32;

// Relaxed access is enough: the one word says everything, and nobody reads other data on the strength of it.
inline __device__ uint64_t peek(const uint64_t* p) {
    uint64_t v;
    asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(v) : "l"(p) : "memory");
    return v;
}
inline __device__ void post(uint64_t* p, uint64_t v) {
    asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(p), "l"(v) : "memory");
}

// An mbarrier in shared memory goes from phase to phase. A phase ends when `count` threads have arrived and all bytes
// that were announced have been copied; the next begins at once. bar_wait(b, 0) waits for the end of the first phase,
// bar_wait(b, 1) for that of the second, and so on in turn.
using Bar = uint64_t;
inline __device__ uint32_t at(const void* p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }
inline __device__ void bar_init(Bar* b, int count) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(at(b)), "r"(count) : "memory");
}
inline __device__ void bar_init_fence() {  // bulk copies, too, are to see the barriers that were made
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}
inline __device__ void bar_arrive(Bar* b) {
    asm volatile("{ .reg .b64 s; mbarrier.arrive.shared::cta.b64 s, [%0]; }" ::"r"(at(b)) : "memory");
}
// Arrives, and announces bytes (expect_tx): the phase does not end before bulk copies have brought as many.
inline __device__ void bar_expect(Bar* b, uint32_t bytes) {
    asm volatile("{ .reg .b64 s; mbarrier.arrive.expect_tx.shared::cta.b64 s, [%0], %1; }" ::"r"(at(b)), "r"(bytes)
                 : "memory");
}
inline __device__ void bar_wait(Bar* b, uint32_t parity) {
    asm volatile("{ .reg .pred p; again: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;"  // sleeps itself
                 "@p bra done; bra again; done: }" ::"r"(at(b)), "r"(parity) : "memory");
}
// What a thread has done in shared memory by ordinary accesses comes before later bulk copies only with this fence, and
// then a barrier if another thread starts the copy.
inline __device__ void async_fence() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
// Addresses and sizes of bulk copies are multiples of 16.
inline __device__ void bulk_load(void* to, const void* from, uint32_t bytes, Bar* b) {
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
                 ::"r"(at(to)), "l"(from), "r"(bytes), "r"(at(b)) : "memory");
}
inline __device__ void bulk_store(void* to, const void* from, uint32_t bytes) {
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to), "r"(at(from)), "r"(bytes)
                 : "memory");
}
inline __device__ void bulk_commit() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }
template <int N>  // until all but the latest N groups of stores have read their shared memory, which is free then
inline __device__ void bulk_wait_read() {
    asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(N) : "memory");
}
inline __device__ void bulk_wait_all() { asm volatile("cp.async.bulk.wait_group 0;" ::: "memory"); }
// As __syncthreads, among `count` threads of the block.
inline __device__ void named_barrier(int id, int count) {
    asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(count) : "memory");
}

inline __device__ float4& vector(float* p, int v) { return reinterpret_cast<float4*>(p)[v]; }

// Of the lanes from the last one with a flag to this one, the sum. `heads` has a bit for each lane with a flag.
template <class T>
inline __device__ T scan_warp(T value, unsigned heads, int lane) {
    const unsigned up_to_here = heads & (kAll >> (31 - lane));
    const int first = up_to_here ? 31 - __clz(up_to_here) : 0;
#pragma unroll
    for (int d = 1; d < 32; d *= 2) {
        const T below = __shfl_up_sync(kAll, value, d);
        if (lane - d >= first) value += below;
    }
    return value;
}

// Round r uses stage r % kStages, for the (r / kStages)-th time: so r / kStages & 1 is the parity of its phases.
struct Shared {
    float stage[kStages][kTile];
    unsigned char flags[kStages][kTile];
    Bar full[kStages];      // loaded
    Bar scanned[kStages];   // the results are in the stage
    Bar known[kStages];     // what the tile begins with
    float before[kStages];  // that
    float warp_sums[2][kWarps];
    bool warp_flags[2][kWarps];
};

__global__ void __launch_bounds__(kBlockThreads, kBlocks)
    scan(const float* x, const unsigned char* flags, float* out, uint64_t* board, int64_t n, int64_t tiles) {
#if __CUDA_ARCH__ >= 900  // compiled for an older GPU it is empty, and solve() does not launch it
    extern __shared__ __align__(1024) char raw[];  // beyond 48 KiB it has to be asked for at the launch
    Shared& s = *reinterpret_cast<Shared*>(raw);
    const int lane = threadIdx.x % 32;
    const int warp = threadIdx.x / 32;
    const int64_t blocks = gridDim.x;
    const int64_t self = blockIdx.x;
    const int rounds = static_cast<int>((tiles - self + blocks - 1) / blocks);  // of this block

    if (threadIdx.x == 0) {
        for (int i = 0; i < kStages; ++i) {
            bar_init(&s.full[i], 1);
            bar_init(&s.scanned[i], kThreads);
            bar_init(&s.known[i], 1);
        }
        bar_init_fence();
    }
    __syncthreads();

    if (warp == kWarps) {  // the mover: one thread
        if (lane != 0) return;
        // The last tile may end anywhere: bulk copies move multiples of 16 bytes, the adders what is left.
        auto load = [&](int round) {
            const int64_t first = (round * blocks + self) * kTile;
            const int64_t left = n - first;
            const uint32_t bytes = left >= kTile ? kTile * 4 : static_cast<uint32_t>(left / 4) * 16;
            const uint32_t flag_bytes = left >= kTile ? kTile : static_cast<uint32_t>(left / 16) * 16;
            Bar* full = &s.full[round % kStages];
            bar_expect(full, bytes + flag_bytes);
            if (bytes > 0) bulk_load(s.stage[round % kStages], x + first, bytes, full);
            if (flag_bytes > 0) bulk_load(s.flags[round % kStages], flags + first, flag_bytes, full);
        };
        for (int round = 0; round < kStages && round < rounds; ++round) load(round);
        for (int round = 0; round < rounds; ++round) {
            const int64_t first = (round * blocks + self) * kTile;
            const int64_t left = n - first;
            const uint32_t bytes = left >= kTile ? kTile * 4 : static_cast<uint32_t>(left / 4) * 16;
            bar_wait(&s.scanned[round % kStages], round / kStages & 1);
            if (bytes > 0) bulk_store(out + first, s.stage[round % kStages], bytes);
            bulk_commit();
            // The store before this one has read its stage: fill that again.
            bulk_wait_read<1>();
            if (round > 0 && round - 1 + kStages < rounds) load(round - 1 + kStages);
        }
        bulk_wait_all();  // shared memory must not go before it has been read
        return;
    }

    if (warp == kWarps + 1) {  // the gatherer
        double carry = 0.0;    // since the last flag of all rounds so far; in double, as rounding errors would add up
        for (int round = 0; round < rounds; ++round) {
            const uint64_t* words = board + round * blocks;
            const int64_t here = tiles - round * blocks < blocks ? tiles - round * blocks : blocks;  // tiles in it
            uint64_t seen[kWords];
#pragma unroll
            for (int i = 0; i < kWords; ++i) {  // all under way before any is looked at
                const int b = i * 32 + lane;
                seen[i] = kNoFlag;
                if (i * 32 < blocks && b < here) seen[i] = peek(words + b);
            }
            for (;;) {  // look again at all that is missing
                bool missing = false;
#pragma unroll
                for (int i = 0; i < kWords; ++i) missing |= seen[i] == 0;
                if (!missing) break;
                __nanosleep(40);  // the board is busy enough
#pragma unroll
                for (int i = 0; i < kWords; ++i) {
                    if (seen[i] == 0) seen[i] = peek(words + i * 32 + lane);
                }
            }
            // The last tile of the round with a flag, of those ahead of this block's and of all. -1: there is none.
            int first_ahead = -1, first_of_all = -1;
#pragma unroll
            for (int i = 0; i < kWords; ++i) {
                const int b = i * 32 + lane;
                if (seen[i] >= kFlag) {
                    if (b < self) first_ahead = b;
                    first_of_all = b;
                }
            }
            __syncwarp();
            for (int step = 16; step > 0; step /= 2) {
                first_ahead = max(first_ahead, __shfl_xor_sync(kAll, first_ahead, step));
                first_of_all = max(first_of_all, __shfl_xor_sync(kAll, first_of_all, step));
            }
            double ahead = 0.0, all = 0.0;
#pragma unroll
            for (int i = 0; i < kWords; ++i) {
                if (i * 32 >= blocks) continue;
                const int b = i * 32 + lane;
                const float sum = __uint_as_float(static_cast<uint32_t>(seen[i]));
                if (b < self && b >= first_ahead) ahead += sum;
                if (b >= first_of_all) all += sum;
            }
            __syncwarp();
            for (int step = 16; step > 0; step /= 2) {
                ahead += __shfl_xor_sync(kAll, ahead, step);
                all += __shfl_xor_sync(kAll, all, step);
            }
            if (lane == 0) {
                // This place is free: our own sum was among those gathered, so the tile before in this stage is done.
                s.before[round % kStages] = static_cast<float>(first_ahead < 0 ? carry + ahead : ahead);
                bar_arrive(&s.known[round % kStages]);
            }
            carry = first_of_all < 0 ? carry + all : all;
        }
        return;
    }

    // The adders: in each step the sum of a new tile, then the results of the tile kLag steps back.
    float ahead[kLag + 1];  // since the last flag, of this tile and ahead of this thread; the latest tile first
    bool open[kLag + 1];    // there is no flag in this tile ahead of this thread
#pragma unroll
    for (int i = 0; i <= kLag; ++i) {
        ahead[i] = 0.0f;
        open[i] = true;
    }
    const int mine = threadIdx.x * kItems;
    for (int step = 0; step < rounds + kLag; ++step) {
#pragma unroll
        for (int i = kLag; i > 0; --i) {
            ahead[i] = ahead[i - 1];
            open[i] = open[i - 1];
        }
        if (step < rounds) {  // the sum
            const int64_t tile = step * blocks + self;
            const int64_t left = n - tile * kTile;
            float* stage = s.stage[step % kStages];
            unsigned char* marks = s.flags[step % kStages];
            bar_wait(&s.full[step % kStages], step / kStages & 1);
            if (left < kTile) {
                // Fill up what bulk copies left out, with 0 beyond the end. Each thread fills its own places only.
                for (int i = 0; i < kItems; ++i) {
                    const int j = mine + i;
                    if (j >= (left & ~int64_t{3})) stage[j] = j < left ? x[tile * kTile + j] : 0.0f;
                    if (j >= (left & ~int64_t{15})) marks[j] = j < left ? flags[tile * kTile + j] : 0;
                }
            }
            float sum = 0.0f;
            uint32_t any = 0;
#pragma unroll
            for (int v = 0; v < kVectors; ++v) {
                const float4 own = vector(stage + mine, v);
                const uint32_t four = reinterpret_cast<const uint32_t*>(marks + mine)[v];
                any |= four;
                sum = (four & 0xffu ? 0.0f : sum) + own.x;
                sum = (four & 0xff00u ? 0.0f : sum) + own.y;
                sum = (four & 0xff0000u ? 0.0f : sum) + own.z;
                sum = (four & 0xff000000u ? 0.0f : sum) + own.w;
            }
            const unsigned heads = __ballot_sync(kAll, any != 0);
            const float up_to_here = scan_warp(sum, heads, lane);
            // Without this lane's own: one lane below. Subtracting it would not do: inf - inf is NaN.
            float in_warp = __shfl_up_sync(kAll, up_to_here, 1);
            if (lane == 0) in_warp = 0.0f;
            const bool open_in_warp = (heads & ((1u << lane) - 1)) == 0;
            // Two sets of sums by turns: nobody is two steps ahead, so one barrier is enough.
            if (lane == 31) {
                s.warp_sums[step % 2][warp] = up_to_here;
                s.warp_flags[step % 2][warp] = heads != 0;
            }
            named_barrier(1, kThreads);
            float ahead_of_warp = 0.0f, tile_sum = 0.0f;
            bool open_ahead = true, flag = false;
#pragma unroll
            for (int w = 0; w < kWarps; ++w) {
                if (w == warp) {
                    ahead_of_warp = tile_sum;
                    open_ahead = !flag;
                }
                const bool begins = s.warp_flags[step % 2][w];
                tile_sum = (begins ? 0.0f : tile_sum) + s.warp_sums[step % 2][w];
                flag |= begins;
            }
            if (threadIdx.x == 0) post(board + tile, (flag ? kFlag : kNoFlag) | __float_as_uint(tile_sum));
            ahead[0] = (open_in_warp ? ahead_of_warp : 0.0f) + in_warp;
            open[0] = open_in_warp && open_ahead;
        }
        if (step >= kLag) {  // the results
            const int round = step - kLag;
            const int64_t tile = round * blocks + self;
            const int64_t left = n - tile * kTile;
            float* stage = s.stage[round % kStages];
            const unsigned char* marks = s.flags[round % kStages];
            bar_wait(&s.known[round % kStages], round / kStages & 1);
            float sum = (open[kLag] ? s.before[round % kStages] : 0.0f) + ahead[kLag];
#pragma unroll
            for (int v = 0; v < kVectors; ++v) {
                float4 own = vector(stage + mine, v);
                const uint32_t four = reinterpret_cast<const uint32_t*>(marks + mine)[v];
                own.x += four & 0xffu ? 0.0f : sum;
                own.y += four & 0xff00u ? 0.0f : own.x;
                own.z += four & 0xff0000u ? 0.0f : own.y;
                own.w += four & 0xff000000u ? 0.0f : own.z;
                sum = own.w;
                vector(stage + mine, v) = own;
            }
            if (left < kTile) {  // what the bulk store will leave out
                for (int i = 0; i < kItems; ++i) {
                    const int j = mine + i;
                    if (j >= (left & ~int64_t{3}) && j < left) out[tile * kTile + j] = stage[j];
                }
            }
            async_fence();  // the mover's bulk store is to see these results
            bar_arrive(&s.scanned[round % kStages]);
        }
    }
#endif
}

// For other GPUs: the array is cut into parts, one for each block. The first pass finds the sum since each part's last
// flag. In the second, each block adds up what its part begins with, and goes through it kThreads elements at a time.
constexpr int kMostParts = 1024;

// Of a block's threads: from the last one with a flag (from the first if none has one) to this one, the sum. `heads`
// becomes true if any has a flag, `open` if none up to this one has, `all` the last thread's sum.
template <class T>
__device__ T scan_block(T value, bool flag, bool& open, bool& heads, T& all) {
    __shared__ T sums[kWarps];
    __shared__ bool flagged[kWarps];
    const int lane = threadIdx.x % 32;
    const int warp = threadIdx.x / 32;
    const unsigned bits = __ballot_sync(kAll, flag);
    value = scan_warp(value, bits, lane);
    open = (bits & (kAll >> (31 - lane))) == 0;
    if (lane == 31) {
        sums[warp] = value;
        flagged[warp] = bits != 0;
    }
    __syncthreads();
    T ahead_of_warp = 0;
    bool open_ahead = true;
    all = 0;
    heads = false;
    for (int w = 0; w < kWarps; ++w) {
        if (w == warp) {
            ahead_of_warp = all;
            open_ahead = !heads;
        }
        all = (flagged[w] ? 0 : all) + sums[w];
        heads |= flagged[w];
    }
    __syncthreads();  // all have read, so the next call may write
    if (open) value += ahead_of_warp;
    open &= open_ahead;
    return value;
}

__global__ void __launch_bounds__(kThreads)
    sum_parts(const float* x, const unsigned char* flags, double* sums, bool* flagged, int64_t n, int64_t part) {
    const int64_t begin = blockIdx.x * part;
    const int64_t end = begin + part < n ? begin + part : n;
    double carry = 0.0;
    bool any = false;
    for (int64_t first = begin; first < end; first += kThreads) {
        const int64_t i = first + threadIdx.x;
        bool open, heads;
        double all;
        scan_block<double>(i < end ? x[i] : 0.0, i < end && flags[i], open, heads, all);
        carry = (heads ? 0.0 : carry) + all;
        any |= heads;
    }
    if (threadIdx.x == 0) {
        sums[blockIdx.x] = carry;
        flagged[blockIdx.x] = any;
    }
}

__global__ void __launch_bounds__(kThreads)
    scan_parts(const float* x, const unsigned char* flags, float* out, const double* sums, const bool* flagged,
               int64_t n, int64_t part) {
    const int64_t begin = blockIdx.x * part;
    const int64_t end = begin + part < n ? begin + part : n;
    double carry = 0.0;
    bool open, heads;
    for (unsigned first = 0; first < blockIdx.x; first += kThreads) {
        const unsigned p = first + threadIdx.x;
        double all;
        scan_block<double>(p < blockIdx.x ? sums[p] : 0.0, p < blockIdx.x && flagged[p], open, heads, all);
        carry = (heads ? 0.0 : carry) + all;
    }
    for (int64_t first = begin; first < end; first += kThreads) {
        const int64_t i = first + threadIdx.x;
        float all;
        const float sum = scan_block<float>(i < end ? x[i] : 0.0f, i < end && flags[i], open, heads, all);
        if (i < end) out[i] = static_cast<float>(open ? carry + sum : sum);
        carry = (heads ? 0.0 : carry) + all;
    }
}

void solve_in_two_passes(const float* x, const unsigned char* flags, float* out, int64_t n) {
    const int64_t part = (n / (kMostParts * kThreads) + 1) * kThreads;
    const unsigned parts = static_cast<unsigned>((n + part - 1) / part);
    double* sums = nullptr;  // and a byte for each part behind them
    if (cudaMallocAsync(reinterpret_cast<void**>(&sums), parts * (sizeof(double) + 1), 0) != cudaSuccess) return;
    bool* flagged = reinterpret_cast<bool*>(sums + parts);
    sum_parts<<<parts, kThreads>>>(x, flags, sums, flagged, n, part);
    scan_parts<<<parts, kThreads>>>(x, flags, out, sums, flagged, n, part);
    cudaFreeAsync(sums, 0);
}

extern "C" void solve(const float* x, const unsigned char* flags, float* out, int64_t n) {
    if (n == 0) return;  // a grid of 0 blocks is a launch error
    // The kernel is there if it was compiled for 9.0 or newer, which no older GPU runs. Of the newer ones not all have
    // 105 KiB of shared memory for a block.
    int device = 0, processors = 0, most_shared = 0, fit = 0;
    cudaFuncAttributes compiled = {};
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
    cudaDeviceGetAttribute(&most_shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
    cudaFuncGetAttributes(&compiled, scan);
    if (compiled.ptxVersion < 90 || most_shared < static_cast<int>(sizeof(Shared)))
        return solve_in_two_passes(x, flags, out, n);

    // As many blocks as run at the same time, but no more than there are tiles or the gatherer has words for.
    cudaFuncSetAttribute(scan, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(sizeof(Shared)));
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fit, scan, kBlockThreads, sizeof(Shared));
    int64_t tiles = (n + kTile - 1) / kTile;
    int64_t grid = processors * (fit < kBlocks ? fit : kBlocks);
    if (grid > 32 * kWords) grid = 32 * kWords;
    if (grid > tiles) grid = tiles;
    uint64_t* board = nullptr;
    if (cudaMallocAsync(reinterpret_cast<void**>(&board), tiles * sizeof(uint64_t), 0) != cudaSuccess) return;
    cudaMemsetAsync(board, 0, tiles * sizeof(uint64_t), 0);
    void* arguments[] = {&x, &flags, &out, &board, &n, &tiles};
    cudaLaunchCooperativeKernel(scan, static_cast<unsigned>(grid), kBlockThreads, arguments, sizeof(Shared), 0);
    cudaFreeAsync(board, 0);
}
