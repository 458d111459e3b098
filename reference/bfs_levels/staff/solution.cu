// Breadth-first search by levels, with two launches for each: one follows the edges of the present level's vertices,
// the other collects the vertices that were reached for the first time.
//
// The random access decides: each edge asks whether its vertex has been reached. Levels would be 4 bytes each, 64 MiB
// for 2^24 vertices, and each question a sector from memory. A bit each is 2 MiB, which the second-level cache holds.
// - expand: a warp takes up to 32 vertices of the queue and shares out all of their edges, however many each has. It
//   sets the bits that are not set yet, atomically: the other 31 bits of a word may be set at the same time.
// - settle: bits that were not set in the last level are this level's vertices. They get their level, and make the
//   next queue. Places in the queue come from one atomic addition for each block.
// The host does not know how many vertices a level has: every launch reads it from memory, and the host waits for
// nothing.
#include <cstdint>
#include <cuda_runtime.h>

constexpr unsigned kAll = 0xffffffffu;
constexpr int kThreads = 256;
constexpr int kWarps = kThreads / 32;
constexpr int kBlocks = 8;  // to a multiprocessor
constexpr int kFlight = 4;  // edges that a lane follows at once

// Others may set bits of the word at the same time. A bit that is missed costs an atomic operation more, and nothing
// else.
inline __device__ uint32_t peek(const uint32_t* p) {
    uint32_t v;
    asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
    return v;
}

// The sum over this lane and those below it.
inline __device__ int up_to_here(int value) {
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int d = 1; d < 32; d *= 2) {
        const int below = __shfl_up_sync(kAll, value, d);
        if (lane >= d) value += below;
    }
    return value;
}

__global__ void start(int32_t* level, uint32_t* seen, uint32_t* done, int32_t* queue, int* size, int32_t source) {
    level[source] = 0;
    seen[source / 32] = done[source / 32] = 1u << (source % 32);
    queue[0] = source;
    size[0] = 1;
}

__global__ void __launch_bounds__(kThreads)
    expand(const int32_t* row_ptr, const int32_t* col, uint32_t* seen, const int32_t* queue, const int* size) {
    const int count = *size, lane = threadIdx.x % 32;
    const int64_t warps = static_cast<int64_t>(gridDim.x) * kWarps;
    const int64_t warp = static_cast<int64_t>(blockIdx.x) * kWarps + threadIdx.x / 32;
    // A short queue goes to more warps, with fewer vertices each.
    const int64_t share = count / warps < 32 ? count / warps + 1 : 32;
    for (int64_t first = warp * share; first < count; first += warps * share) {
        int begin = 0, length = 0;
        if (lane < share && first + lane < count) {
            const int32_t vertex = queue[first + lane];
            begin = row_ptr[vertex];
            length = row_ptr[vertex + 1] - begin;
        }
        // The edges of all these vertices in a row: those of this lane's end ahead of number `end`.
        const int end = up_to_here(length);
        const int shift = begin - (end - length);  // from such a number to the edge's own
        const int total = __shfl_sync(kAll, end, 31);
        for (int64_t base = 0; base < total; base += 32 * kFlight) {
            int32_t target[kFlight];
            uint32_t word[kFlight];
#pragma unroll
            for (int f = 0; f < kFlight; ++f) {
                const int64_t number = base + f * 32 + lane;
                int owner = 0;  // how many vertices end at this number or before
#pragma unroll
                for (int step = 16; step > 0; step /= 2) {
                    if (__shfl_sync(kAll, end, owner + step - 1) <= number) owner += step;
                }
                const int64_t edge = number + __shfl_sync(kAll, shift, owner);
                target[f] = number < total ? col[edge] : -1;
            }
#pragma unroll
            for (int f = 0; f < kFlight; ++f) {
                word[f] = kAll;
                if (target[f] >= 0) word[f] = peek(seen + target[f] / 32);
            }
#pragma unroll
            for (int f = 0; f < kFlight; ++f) {
                const uint32_t bit = 1u << (target[f] & 31);
                if ((word[f] & bit) == 0) atomicOr(seen + target[f] / 32, bit);
            }
        }
    }
}

__global__ void __launch_bounds__(kThreads) settle(const uint32_t* seen, uint32_t* done, int32_t* level, int32_t* queue,
                                                   int* sizes, int64_t words, int32_t present) {
    __shared__ int places[kWarps];
    if (sizes[present - 1] == 0) return;  // the level before was empty, so nothing was reached
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int64_t own = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
    uint32_t fresh = 0;
    if (own < words) {
        const uint32_t now = seen[own];
        fresh = now & ~done[own];
        if (fresh != 0) done[own] = now;
    }
    const int count = __popc(fresh);
    const int end = up_to_here(count);
    if (lane == 31) places[warp] = end;
    __syncthreads();
    if (threadIdx.x == 0) {
        int total = 0;
        for (int w = 0; w < kWarps; ++w) total += places[w];
        int next = total > 0 ? atomicAdd(&sizes[present], total) : 0;
        for (int w = 0; w < kWarps; ++w) {
            const int of_warp = places[w];
            places[w] = next;
            next += of_warp;
        }
    }
    __syncthreads();
    const int place = places[warp] + end - count;
    // A word of 32 vertices at a time, a vertex for each lane: neighbouring lanes write neighbouring levels.
    for (unsigned busy = __ballot_sync(kAll, fresh != 0); busy != 0; busy &= busy - 1) {
        const int from = __ffs(static_cast<int>(busy)) - 1;
        const uint32_t bits = __shfl_sync(kAll, fresh, from);
        const int first = __shfl_sync(kAll, place, from);
        if (bits >> lane & 1) {
            const int32_t vertex = static_cast<int32_t>((own - lane + from) * 32) + lane;
            level[vertex] = present;
            queue[first + __popc(bits & ((1u << lane) - 1))] = vertex;
        }
    }
}

extern "C" void solve(const int32_t* row_ptr, const int32_t* col, int32_t* level, int64_t n, int64_t m, int64_t source,
                      int64_t depth) {
    const int64_t words = (n + 31) / 32;
    // Two bits for each vertex, the sizes of all levels, and the queue, which needs no clearing.
    const size_t cleared = (2 * words + depth + 1) * sizeof(uint32_t);
    uint32_t* scratch = nullptr;
    if (cudaMallocAsync(reinterpret_cast<void**>(&scratch), cleared + n * sizeof(int32_t), 0) != cudaSuccess) return;
    uint32_t *seen = scratch, *done = scratch + words;
    int* sizes = reinterpret_cast<int*>(done + words);
    int32_t* queue = sizes + depth + 1;
    cudaMemsetAsync(scratch, 0, cleared, 0);
    cudaMemsetAsync(level, 0xff, n * sizeof(int32_t), 0);  // -1, byte by byte
    start<<<1, 1>>>(level, seen, done, queue, sizes, static_cast<int32_t>(source));

    int device = 0, processors = 0;
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
    const int64_t useful = (n + kThreads - 1) / kThreads, most = static_cast<int64_t>(processors) * kBlocks;
    const unsigned blocks = static_cast<unsigned>(useful < most ? useful : most);
    for (int32_t present = 1; present <= depth && m > 0; ++present) {
        expand<<<blocks, kThreads>>>(row_ptr, col, seen, queue, sizes + present - 1);
        settle<<<static_cast<unsigned>((words + kThreads - 1) / kThreads), kThreads>>>(seen, done, level, queue, sizes,
                                                                                       words, present);
    }
    cudaFreeAsync(scratch, 0);
}
