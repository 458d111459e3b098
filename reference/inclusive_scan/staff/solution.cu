// Inclusive prefix sum in a single pass: everything is read once and written once, and no load waits for a sum.
//
// The classic single pass ("decoupled look-back") is held up by a chain. A block loads a tile, waits for the sum of all
// tiles ahead of it, and stores. While it waits it loads nothing, and that sum travels from block to block, each time
// as slowly as memory answers. Where memory moves terabytes a second, the chain takes longer than the data.
//
// Here only as many blocks start as run at the same time. They take the tiles in rounds: of B blocks, block b has tiles
// b, B + b, 2 B + b, ... Ahead of a tile stand all earlier rounds, whose sum every block adds up by itself, and those
// tiles of its own round that come before it. So nobody waits for more than the sums of single tiles: no chain.
// - A ring of kStages tiles in shared memory is filled and emptied by bulk copies (TMA): one thread starts a copy, the
//   hardware does the rest. The next tiles are under way whatever the present one waits for.
// - A tile's sum is published as soon as it is known; the tile is finished kLag tiles later. By then the sums of the
//   other blocks have mostly arrived.
// - There are three kinds of warps: one moves data, one gathers sums, the others add.
// Each block waits for all others, so all have to run: for one that had not started they would wait for ever. The
// cooperative launch guarantees it: all blocks run at the same time, or it fails. As the order of summation is fixed,
// the result is the same every time, to the last bit.
//
// Bulk copies need compute capability 9.0. Other GPUs take two simple passes (at the end), which read everything twice.
#include <cstdint>
#include <cuda_runtime.h>

constexpr unsigned kAll = 0xffffffffu;
constexpr int kThreads = 256;  // that add
constexpr int kWarps = kThreads / 32;
constexpr int kBlockThreads = kThreads + 64;  // and two warps more: one that moves, one that gathers
constexpr int kBlocks = 2;                    // to a multiprocessor
constexpr int kVectors = 3;                   // float4s of each thread, next to each other in memory
constexpr int kItems = 4 * kVectors;
constexpr int kTile = kThreads * kItems;  // 3072 elements, 12 KiB
constexpr int kStages = 9;                // tiles of a block on chip
constexpr int kLag = 4;                   // tiles between the sum of a tile and its results
constexpr int kWords = 5 * kBlocks;       // that each lane gathers: enough for 160 multiprocessors
// A 16-byte access is served to eight lanes at a time. Theirs lie an odd number of float4s apart, so that all eight are
// in different banks; with 2 or 4 float4s a thread they would collide.
static_assert(kVectors % 2 == 1);
// kLag + 1 tiles are between sum and results, one is being stored: at least one more is being loaded.
static_assert(kStages >= kLag + 3);

// The board has a word for each tile: the bits of its sum, or kNothing before it is known. These are the bits of a NaN;
// a sum that happens to be this very NaN is published as another one.
constexpr uint32_t kNothing = 0xffffffffu;

// Relaxed access is enough: the one word says everything, and nobody reads other data on the strength of it. So its
// order against other accesses does not matter, and no fence is needed.
inline __device__ uint32_t peek(const uint32_t* p) {
    uint32_t v;
    asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
    return v;
}
inline __device__ void post(uint32_t* p, uint32_t v) {
    asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(p), "r"(v) : "memory");
}

// An mbarrier in shared memory goes from phase to phase. A phase ends when `count` threads have arrived and all bytes
// that were announced have been copied; the next begins at once. bar_wait(b, 0) waits for the end of the first phase,
// bar_wait(b, 1) for that of the second, and so on in turn: only the parity of a phase is told.
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
// Arrives, and announces bytes (expect_tx): the phase does not end before a bulk copy has brought as many.
inline __device__ void bar_expect(Bar* b, uint32_t bytes) {
    asm volatile("{ .reg .b64 s; mbarrier.arrive.expect_tx.shared::cta.b64 s, [%0], %1; }" ::"r"(at(b)), "r"(bytes)
                 : "memory");
}
inline __device__ void bar_wait(Bar* b, uint32_t parity) {
    asm volatile("{ .reg .pred p; again: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;"  // sleeps itself
                 "@p bra done; bra again; done: }" ::"r"(at(b)), "r"(parity) : "memory");
}
// Bulk copies reach shared memory by a way of their own (the "async proxy"). What a thread has done there by ordinary
// accesses comes before later bulk copies only with this fence, and then a barrier if another thread starts the copy.
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

// Round r uses stage r % kStages, for the (r / kStages)-th time: so r / kStages & 1 is the parity of its phases.
struct Shared {
    float stage[kStages][kTile];
    Bar full[kStages];      // loaded
    Bar scanned[kStages];   // the results are in the stage
    Bar known[kStages];     // what stands ahead of the tile
    float before[kStages];  // that
    float warp_sums[2][kWarps];
};

__global__ void __launch_bounds__(kBlockThreads, kBlocks)
    scan(const float* x, float* out, uint32_t* board, int64_t n, int64_t tiles) {
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
        // The last tile may end anywhere: bulk copies move its whole fours, the adders the up to three elements left.
        auto load = [&](int round) {
            const int64_t first = (round * blocks + self) * kTile;
            const int64_t left = n - first;
            const uint32_t bytes = left >= kTile ? kTile * 4 : static_cast<uint32_t>(left / 4) * 16;
            bar_expect(&s.full[round % kStages], bytes);
            if (bytes > 0) bulk_load(s.stage[round % kStages], x + first, bytes, &s.full[round % kStages]);
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
        double carry = 0.0;      // of all rounds so far; in double, as rounding errors would add up
        for (int round = 0; round < rounds; ++round) {
            const uint32_t* words = board + round * blocks;
            const int64_t here = tiles - round * blocks < blocks ? tiles - round * blocks : blocks;  // tiles in it
            uint32_t seen[kWords];
#pragma unroll
            for (int i = 0; i < kWords; ++i) {  // all under way before any is looked at
                const int b = i * 32 + lane;
                seen[i] = 0;
                if (i * 32 < blocks && b < here) seen[i] = peek(words + b);
            }
            for (;;) {  // look again at all that is missing
                bool missing = false;
#pragma unroll
                for (int i = 0; i < kWords; ++i) missing |= seen[i] == kNothing;
                if (!missing) break;
                __nanosleep(40);  // the board is busy enough
#pragma unroll
                for (int i = 0; i < kWords; ++i) {
                    if (seen[i] == kNothing) seen[i] = peek(words + i * 32 + lane);
                }
            }
            double ahead = 0.0, all = 0.0;
#pragma unroll
            for (int i = 0; i < kWords; ++i) {
                if (i * 32 >= blocks) continue;
                const int b = i * 32 + lane;
                const float sum = __uint_as_float(seen[i]);
                if (b < self) ahead += sum;
                all += sum;
            }
            __syncwarp();
            for (int step = 16; step > 0; step /= 2) {
                ahead += __shfl_xor_sync(kAll, ahead, step);
                all += __shfl_xor_sync(kAll, all, step);
            }
            if (lane == 0) {
                // This place is free: our own sum was among those gathered, so the tile before in this stage is done.
                s.before[round % kStages] = static_cast<float>(carry + ahead);
                bar_arrive(&s.known[round % kStages]);
            }
            carry += all;
        }
        return;
    }

    // The adders: in each step the sum of a new tile, then the results of the tile kLag steps back.
    float ahead[kLag + 1];  // of this thread within its tile; the latest tile first
#pragma unroll
    for (int i = 0; i <= kLag; ++i) ahead[i] = 0.0f;
    const int mine = threadIdx.x * kItems;
    for (int step = 0; step < rounds + kLag; ++step) {
#pragma unroll
        for (int i = kLag; i > 0; --i) ahead[i] = ahead[i - 1];
        if (step < rounds) {  // the sum
            const int64_t tile = step * blocks + self;
            const int64_t left = n - tile * kTile;
            float* stage = s.stage[step % kStages];
            bar_wait(&s.full[step % kStages], step / kStages & 1);
            float sum = 0.0f;
            if (left >= kTile) {
                float parts[kVectors];
#pragma unroll
                for (int v = 0; v < kVectors; ++v) {
                    const float4 own = vector(stage + mine, v);
                    parts[v] = own.x + own.y + (own.z + own.w);
                }
#pragma unroll
                for (int v = 0; v < kVectors; ++v) sum += parts[v];
            } else {
                // Fill up what bulk copies left out, with 0 beyond the end. Each thread fills its own places only.
                for (int i = 0; i < kItems; ++i) {
                    const int j = mine + i;
                    if (j >= (left & ~int64_t{3})) stage[j] = j < left ? x[tile * kTile + j] : 0.0f;
                    sum += stage[j];
                }
            }
            float up_to_here = sum;  // over this lane and those below it
#pragma unroll
            for (int d = 1; d < 32; d *= 2) {
                const float below = __shfl_up_sync(kAll, up_to_here, d);
                if (lane >= d) up_to_here += below;
            }
            // Without this lane's own: one lane below. Subtracting it would not do: inf - inf is NaN.
            float in_warp = __shfl_up_sync(kAll, up_to_here, 1);
            if (lane == 0) in_warp = 0.0f;
            // Two sets of sums by turns: nobody is two steps ahead, so one barrier is enough.
            if (lane == 31) s.warp_sums[step % 2][warp] = up_to_here;
            named_barrier(1, kThreads);
            float ahead_of_warp = 0.0f, tile_sum = 0.0f;
#pragma unroll
            for (int w = 0; w < kWarps; ++w) {
                if (w == warp) ahead_of_warp = tile_sum;
                tile_sum += s.warp_sums[step % 2][w];
            }
            if (threadIdx.x == 0) {
                uint32_t word = __float_as_uint(tile_sum);
                if (word == kNothing) word = 0x7fffffffu;  // another NaN
                post(board + tile, word);
            }
            ahead[0] = ahead_of_warp + in_warp;
        }
        if (step >= kLag) {  // the results
            const int round = step - kLag;
            const int64_t tile = round * blocks + self;
            const int64_t left = n - tile * kTile;
            float* stage = s.stage[round % kStages];
            bar_wait(&s.known[round % kStages], round / kStages & 1);
            const float base = s.before[round % kStages] + ahead[kLag];
            float4 own[kVectors];
#pragma unroll
            for (int v = 0; v < kVectors; ++v) own[v] = vector(stage + mine, v);
            float sum = 0.0f;
#pragma unroll
            for (int v = 0; v < kVectors; ++v) {
                own[v].x += sum;
                own[v].y += own[v].x;
                own[v].z += own[v].y;
                own[v].w += own[v].z;
                sum = own[v].w;
                vector(stage + mine, v) =
                    make_float4(base + own[v].x, base + own[v].y, base + own[v].z, base + own[v].w);
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

// For other GPUs: the array is cut into parts, one for each block. The first pass sums each part; in the second each
// block adds up the sums of the parts ahead of its own, and goes through its part kThreads elements at a time.
constexpr int kMostParts = 1024;

// What `value` sums up to over the threads of the block below this one; `all` becomes the sum over all threads.
template <class T>
__device__ T ahead_in_block(T value, T& all) {
    __shared__ T sums[kWarps];
    const int lane = threadIdx.x % 32;
    const int warp = threadIdx.x / 32;
    for (int d = 1; d < 32; d *= 2) {
        const T below = __shfl_up_sync(kAll, value, d);
        if (lane >= d) value += below;
    }
    if (lane == 31) sums[warp] = value;
    __syncthreads();
    T ahead = __shfl_up_sync(kAll, value, 1);
    if (lane == 0) ahead = 0;
    T ahead_of_warp = 0;
    all = 0;
    for (int w = 0; w < kWarps; ++w) {
        if (w == warp) ahead_of_warp = all;
        all += sums[w];
    }
    __syncthreads();  // all have read, so the next call may write
    return ahead_of_warp + ahead;
}

__global__ void __launch_bounds__(kThreads) sum_parts(const float* x, double* sums, int64_t n, int64_t part) {
    const int64_t begin = blockIdx.x * part;
    const int64_t end = begin + part < n ? begin + part : n;
    double sum = 0.0, all;
    for (int64_t i = begin + threadIdx.x; i < end; i += kThreads) sum += x[i];
    ahead_in_block(sum, all);
    if (threadIdx.x == 0) sums[blockIdx.x] = all;
}

__global__ void __launch_bounds__(kThreads)
    scan_parts(const float* x, float* out, const double* sums, int64_t n, int64_t part) {
    const int64_t begin = blockIdx.x * part;
    const int64_t end = begin + part < n ? begin + part : n;
    double sum = 0.0, carry;
    for (unsigned p = threadIdx.x; p < blockIdx.x; p += kThreads) sum += sums[p];
    ahead_in_block(sum, carry);
    for (int64_t first = begin; first < end; first += kThreads) {
        const int64_t i = first + threadIdx.x;
        const float own = i < end ? x[i] : 0.0f;
        float all;
        const float up_to_here = ahead_in_block(own, all) + own;
        if (i < end) out[i] = static_cast<float>(carry + up_to_here);
        carry += all;
    }
}

void solve_in_two_passes(const float* x, float* out, int64_t n) {
    const int64_t part = (n / (kMostParts * kThreads) + 1) * kThreads;
    const unsigned parts = static_cast<unsigned>((n + part - 1) / part);
    double* sums = nullptr;
    if (cudaMallocAsync(reinterpret_cast<void**>(&sums), parts * sizeof(double), 0) != cudaSuccess) return;
    sum_parts<<<parts, kThreads>>>(x, sums, n, part);
    scan_parts<<<parts, kThreads>>>(x, out, sums, n, part);
    cudaFreeAsync(sums, 0);
}

extern "C" void solve(const float* x, float* out, int64_t n) {
    if (n == 0) return;  // a grid of 0 blocks is a launch error
    // The kernel is there if it was compiled for 9.0 or newer, which no older GPU runs. Of the newer ones not all have
    // 108 KiB of shared memory for a block.
    int device = 0, processors = 0, most_shared = 0, fit = 0;
    cudaFuncAttributes compiled = {};
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
    cudaDeviceGetAttribute(&most_shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
    cudaFuncGetAttributes(&compiled, scan);
    if (compiled.ptxVersion < 90 || most_shared < static_cast<int>(sizeof(Shared)))
        return solve_in_two_passes(x, out, n);

    // As many blocks as run at the same time, but no more than there are tiles or the gatherer has words for.
    cudaFuncSetAttribute(scan, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(sizeof(Shared)));
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fit, scan, kBlockThreads, sizeof(Shared));
    int64_t tiles = (n + kTile - 1) / kTile;
    int64_t grid = processors * (fit < kBlocks ? fit : kBlocks);
    if (grid > 32 * kWords) grid = 32 * kWords;
    if (grid > tiles) grid = tiles;
    uint32_t* board = nullptr;
    if (cudaMallocAsync(reinterpret_cast<void**>(&board), tiles * sizeof(uint32_t), 0) != cudaSuccess) return;
    cudaMemsetAsync(board, kNothing & 0xff, tiles * sizeof(uint32_t), 0);  // byte by byte
    void* arguments[] = {&x, &out, &board, &n, &tiles};
    cudaLaunchCooperativeKernel(scan, static_cast<unsigned>(grid), kBlockThreads, arguments, sizeof(Shared), 0);
    cudaFreeAsync(board, 0);
}
