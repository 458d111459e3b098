// Stream compaction in a single pass: everything is read once, what is kept is written once, and no load waits for a
// count.
//
// The classic single pass ("decoupled look-back") is held up by a chain. A block loads a tile, waits for how much all
// tiles ahead of it keep, and stores. While it waits it loads nothing, and that number travels from block to block,
// each time as slowly as memory answers. Where memory moves terabytes a second, the chain takes longer than the data.
//
// Here only as many blocks start as run at the same time. They take the tiles in rounds: of B blocks, block b has tiles
// b, B + b, 2 B + b, ... Ahead of a tile stand all earlier rounds, whose count every block adds up by itself, and those
// tiles of its own round that come before it. So nobody waits for more than the counts of single tiles: no chain.
// - A ring of kStages tiles in shared memory is filled and emptied by bulk copies (TMA): one thread starts a copy, the
//   hardware does the rest. The next tiles are under way whatever the present one waits for.
// - A tile's count is published as soon as it is known; the tile is finished kLag tiles later. By then the counts of
//   the other blocks have mostly arrived. The gaps are closed within the stage, and one bulk copy takes the result.
// - There are three kinds of warps: one moves data, one gathers counts, the others look at elements.
// Each block waits for all others, so all have to run: for one that had not started they would wait for ever. The
// cooperative launch guarantees it: all blocks run at the same time, or it fails.
//
// Bulk copies need compute capability 9.0. Other GPUs take two simple passes (at the end), which read everything twice.
#include <cstdint>
#include <cuda_runtime.h>

constexpr unsigned kAll = 0xffffffffu;
constexpr int kThreads = 256;  // that look at elements
constexpr int kWarps = kThreads / 32;
constexpr int kBlockThreads = kThreads + 64;  // and two warps more: one that moves, one that gathers
constexpr int kBlocks = 2;                    // to a multiprocessor
constexpr int kVectors = 3;                   // float4s of each thread
constexpr int kItems = 4 * kVectors;
constexpr int kWarpTile = 32 * kItems;        // 384 elements, next to each other in memory
constexpr int kTile = kWarps * kWarpTile;     // 3072 elements, 12 KiB
constexpr int kStages = 9;                    // tiles of a block on chip
constexpr int kLag = 4;                       // tiles between the count of a tile and its results
constexpr int kWords = 5 * kBlocks;           // that each lane gathers: enough for 160 multiprocessors
// kLag + 1 tiles are between count and results, one is being stored: at least one more is being loaded.
static_assert(kStages >= kLag + 3);

// The board has a word for each tile: its count, or kNothing before it is known. No count is as large.
constexpr uint32_t kNothing = 0xffffffffu;
static_assert(kTile < kNothing);

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

// Round r uses stage r % kStages, for the (r / kStages)-th time: so r / kStages & 1 is the parity of its phases.
struct Shared {
    float stage[kStages][kTile + 32];  // room to shift by up to three
    Bar full[kStages];                 // loaded
    Bar closed[kStages];               // what is kept stands side by side in the stage
    Bar known[kStages];                // how much is kept ahead of the tile
    int64_t before[kStages];           // that
    int keeps[kStages];                // how much of the tile is kept
    int warps_keep[2][kWarps];
};

__global__ void __launch_bounds__(kBlockThreads, kBlocks)
    compact(const float* x, float* out, int64_t* count, uint32_t* board, int64_t n, int64_t tiles) {
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
            bar_init(&s.closed[i], kThreads);
            bar_init(&s.known[i], 1);
        }
        bar_init_fence();
    }
    __syncthreads();

    if (warp == kWarps) {  // the mover
        // The last tile may end anywhere: bulk copies load its whole fours, the counters the up to three elements left.
        auto load = [&](int round) {
            const int64_t first = (round * blocks + self) * kTile;
            const int64_t left = n - first;
            const uint32_t bytes = left >= kTile ? kTile * 4 : static_cast<uint32_t>(left / 4) * 16;
            bar_expect(&s.full[round % kStages], bytes);
            if (bytes > 0) bulk_load(s.stage[round % kStages], x + first, bytes, &s.full[round % kStages]);
        };
        if (lane == 0) {
            for (int round = 0; round < kStages && round < rounds; ++round) load(round);
        }
        for (int round = 0; round < rounds; ++round) {
            bar_wait(&s.closed[round % kStages], round / kStages & 1);
            const int64_t begin = s.before[round % kStages];
            const int64_t end = begin + s.keeps[round % kStages];
            // Bulk copies take 16 bytes at a time, aligned in both places: so what goes to out[begin] stands as many
            // places beyond a multiple of four in the stage. Up to three elements at either end go one by one.
            const int64_t shift = begin & 3;
            const float* from = s.stage[round % kStages] + shift;  // of out[begin]
            const int64_t first_whole = (begin + 3) & ~int64_t{3};
            const int64_t last_whole = end & ~int64_t{3};
            if (lane < 4) {
                const int64_t i = begin + lane;
                if (i < first_whole && i < end) out[i] = from[i - begin];
            } else if (lane < 8) {
                const int64_t i = last_whole + lane - 4;
                if (i >= first_whole && i < end) out[i] = from[i - begin];
            }
            async_fence();  // these lanes' reading comes before the stage is filled again
            __syncwarp();
            if (lane == 0) {
                if (last_whole > first_whole) {
                    bulk_store(out + first_whole, from + (first_whole - begin),
                               static_cast<uint32_t>(last_whole - first_whole) * 4);
                }
                bulk_commit();
                // The store before this one has read its stage: fill that again.
                bulk_wait_read<1>();
                if (round > 0 && round - 1 + kStages < rounds) load(round - 1 + kStages);
            }
            __syncwarp();
        }
        if (lane == 0) bulk_wait_all();  // shared memory must not go before it has been read
        return;
    }

    if (warp == kWarps + 1) {  // the gatherer
        int64_t carry = 0;       // of all rounds so far
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
            int ahead = 0, all = 0;
#pragma unroll
            for (int i = 0; i < kWords; ++i) {
                if (i * 32 >= blocks) continue;
                const int b = i * 32 + lane;
                if (b < self) ahead += seen[i];
                all += seen[i];
            }
            __syncwarp();
            ahead = __reduce_add_sync(kAll, ahead);
            all = __reduce_add_sync(kAll, all);
            if (lane == 0) {
                // This place is free: our own count was among those gathered, so the tile before in this stage is done.
                s.before[round % kStages] = carry + ahead;
                bar_arrive(&s.known[round % kStages]);
                if (round * blocks + self == tiles - 1) *count = carry + all;
            }
            carry += all;
        }
        return;
    }

    // The counters: in each step they count a new tile, then close the gaps of the tile kLag steps back.
    int ahead[kLag + 1];  // of this warp within its tile; the latest tile first
#pragma unroll
    for (int i = 0; i <= kLag; ++i) ahead[i] = 0;
    const int warp_first = warp * kWarpTile;
    const unsigned lower = (1u << lane) - 1;
    for (int step = 0; step < rounds + kLag; ++step) {
#pragma unroll
        for (int i = kLag; i > 0; --i) ahead[i] = ahead[i - 1];
        if (step < rounds) {  // count
            const int64_t tile = step * blocks + self;
            const int64_t left = n - tile * kTile;
            float* stage = s.stage[step % kStages];
            bar_wait(&s.full[step % kStages], step / kStages & 1);
            if (left < kTile) {
                // Fill up what bulk copies left out, with 0 beyond the end, which is not kept.
                for (int i = threadIdx.x; i < kTile; i += kThreads) {
                    if (i >= (left & ~int64_t{3})) stage[i] = i < left ? x[tile * kTile + i] : 0.0f;
                }
                named_barrier(1, kThreads);
            }
            int keeps = 0;
#pragma unroll
            for (int v = 0; v < kVectors; ++v) {
                const float4 own = reinterpret_cast<const float4*>(stage + warp_first)[v * 32 + lane];
                keeps += (own.x > 0) + (own.y > 0) + (own.z > 0) + (own.w > 0);
            }
            keeps = __reduce_add_sync(kAll, keeps);
            // Two sets of counts by turns: nobody is two steps ahead, so one barrier is enough.
            if (lane == 0) s.warps_keep[step % 2][warp] = keeps;
            named_barrier(1, kThreads);
            int tile_keeps = 0;
#pragma unroll
            for (int w = 0; w < kWarps; ++w) {
                if (w == warp) ahead[0] = tile_keeps;
                tile_keeps += s.warps_keep[step % 2][w];
            }
            if (threadIdx.x == 0) {
                post(board + tile, static_cast<uint32_t>(tile_keeps));
                s.keeps[step % kStages] = tile_keeps;
            }
        }
        if (step >= kLag) {  // close the gaps
            const int round = step - kLag;
            float* stage = s.stage[round % kStages];
            float own[kItems];
#pragma unroll
            for (int i = 0; i < kItems; ++i) own[i] = stage[warp_first + i * 32 + lane];
            bar_wait(&s.known[round % kStages], round / kStages & 1);
            named_barrier(1, kThreads);  // all have read what is overwritten now
            float* place = stage + (s.before[round % kStages] & 3) + ahead[kLag];  // of the next that this warp keeps
#pragma unroll
            for (int i = 0; i < kItems; ++i) {
                const bool keep = own[i] > 0;
                const unsigned keeping = __ballot_sync(kAll, keep);
                if (keep) place[__popc(keeping & lower)] = own[i];
                place += __popc(keeping);
            }
            async_fence();  // the mover's bulk store is to see this
            bar_arrive(&s.closed[round % kStages]);
        }
    }
#endif
}

// For other GPUs: the array is cut into parts, one for each block. The first pass counts each part; in the second each
// block adds up the counts of the parts ahead of its own, and goes through its part kThreads elements at a time.
constexpr int kMostParts = 1024;

// What `value` sums up to over the threads of the block below this one; `all` becomes the sum over all threads.
__device__ int64_t ahead_in_block(int64_t value, int64_t& all) {
    __shared__ int64_t sums[kWarps];
    const int64_t own = value;
    const int lane = threadIdx.x % 32;
    const int warp = threadIdx.x / 32;
    for (int d = 1; d < 32; d *= 2) {
        const int64_t below = __shfl_up_sync(kAll, value, d);
        if (lane >= d) value += below;
    }
    if (lane == 31) sums[warp] = value;
    __syncthreads();
    int64_t ahead_of_warp = 0;
    all = 0;
    for (int w = 0; w < kWarps; ++w) {
        if (w == warp) ahead_of_warp = all;
        all += sums[w];
    }
    __syncthreads();  // all have read, so the next call may write
    return ahead_of_warp + value - own;
}

__global__ void __launch_bounds__(kThreads) count_parts(const float* x, int64_t* counts, int64_t n, int64_t part) {
    const int64_t begin = blockIdx.x * part;
    const int64_t end = begin + part < n ? begin + part : n;
    int64_t keeps = 0, all;
    for (int64_t i = begin + threadIdx.x; i < end; i += kThreads) keeps += x[i] > 0;
    ahead_in_block(keeps, all);
    if (threadIdx.x == 0) counts[blockIdx.x] = all;
}

__global__ void __launch_bounds__(kThreads)
    compact_parts(const float* x, float* out, int64_t* count, const int64_t* counts, int64_t n, int64_t part) {
    const int64_t begin = blockIdx.x * part;
    const int64_t end = begin + part < n ? begin + part : n;
    int64_t keeps = 0, carry, all;
    for (unsigned p = threadIdx.x; p < blockIdx.x; p += kThreads) keeps += counts[p];
    ahead_in_block(keeps, carry);
    for (int64_t first = begin; first < end; first += kThreads) {
        const int64_t i = first + threadIdx.x;
        const float own = i < end ? x[i] : 0.0f;
        const int64_t place = carry + ahead_in_block(own > 0, all);
        if (own > 0) out[place] = own;
        carry += all;
    }
    if (blockIdx.x == gridDim.x - 1 && threadIdx.x == 0) *count = carry;
}

void solve_in_two_passes(const float* x, float* out, int64_t* count, int64_t n) {
    const int64_t part = (n / (kMostParts * kThreads) + 1) * kThreads;
    const unsigned parts = static_cast<unsigned>((n + part - 1) / part);
    int64_t* counts = nullptr;
    if (cudaMallocAsync(reinterpret_cast<void**>(&counts), parts * sizeof(int64_t), 0) != cudaSuccess) return;
    count_parts<<<parts, kThreads>>>(x, counts, n, part);
    compact_parts<<<parts, kThreads>>>(x, out, count, counts, n, part);
    cudaFreeAsync(counts, 0);
}

extern "C" void solve(const float* x, float* out, int64_t* count, int64_t n) {
    if (n == 0) {
        cudaMemsetAsync(count, 0, sizeof(int64_t), 0);  // nothing to look at, but the answer is 0
        return;
    }
    // The kernel is there if it was compiled for 9.0 or newer, which no older GPU runs. Of the newer ones not all have
    // 109 KiB of shared memory for a block.
    int device = 0, processors = 0, most_shared = 0, fit = 0;
    cudaFuncAttributes compiled = {};
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
    cudaDeviceGetAttribute(&most_shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
    cudaFuncGetAttributes(&compiled, compact);
    if (compiled.ptxVersion < 90 || most_shared < static_cast<int>(sizeof(Shared)))
        return solve_in_two_passes(x, out, count, n);

    // As many blocks as run at the same time, but no more than there are tiles or the gatherer has words for.
    cudaFuncSetAttribute(compact, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(sizeof(Shared)));
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fit, compact, kBlockThreads, sizeof(Shared));
    int64_t tiles = (n + kTile - 1) / kTile;
    int64_t grid = processors * (fit < kBlocks ? fit : kBlocks);
    if (grid > 32 * kWords) grid = 32 * kWords;
    if (grid > tiles) grid = tiles;
    uint32_t* board = nullptr;
    if (cudaMallocAsync(reinterpret_cast<void**>(&board), tiles * sizeof(uint32_t), 0) != cudaSuccess) return;
    cudaMemsetAsync(board, kNothing & 0xff, tiles * sizeof(uint32_t), 0);  // byte by byte
    void* arguments[] = {&x, &out, &count, &board, &n, &tiles};
    cudaLaunchCooperativeKernel(compact, static_cast<unsigned>(grid), kBlockThreads, arguments, sizeof(Shared), 0);
    cudaFreeAsync(board, 0);
}
