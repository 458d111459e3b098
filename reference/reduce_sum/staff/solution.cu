// Sum of a vector: a thread sums in registers, a warp by shuffles, a block through shared memory, and each block adds
// one number to out.
#include <cstdint>
#include <cuda_runtime.h>

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / 32;
constexpr int kFlight = 4;  // 16-byte loads that a thread has under way at once: that is what hides memory's latency
constexpr int kSteps = 8;
constexpr int64_t kStep = kThreads * kFlight * 4;  // numbers that a block takes per step
constexpr int64_t kPerBlock = kStep * kSteps;      // 32768: few additions to out, and enough blocks

// The sum over a warp, in its lane 0: after each shuffle half as many lanes hold what is left to add.
__device__ float sum_of_warp(float value) {
    for (int distance = 16; distance > 0; distance /= 2) value += __shfl_down_sync(0xffffffffu, value, distance);
    return value;
}

// The sum over the block, in its thread 0. All threads must call it.
__device__ float sum_of_block(float value) {
    __shared__ float parts[kWarps];
    value = sum_of_warp(value);
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = value;
    __syncthreads();
    // Every warp goes through this, and the first one counts: a shuffle names all lanes, so all must take part.
    return sum_of_warp(threadIdx.x % 32 < kWarps ? parts[threadIdx.x % 32] : 0.0f);
}

__global__ void __launch_bounds__(kThreads) add_up(const float* x, float* out, int64_t n) {
    const int64_t first = blockIdx.x * kPerBlock;  // 64 bits: n may exceed 2^31
    // One sum for each load in flight: additions to a single one would have to wait for each other.
    float4 sums[kFlight] = {};
    for (int step = 0; step < kSteps; ++step) {
        const int64_t from = first + step * kStep;
        if (from + kStep <= n) {
            // Arrays begin at a multiple of 256 bytes, and so does every step.
            const float4* fours = reinterpret_cast<const float4*>(x + from) + threadIdx.x;
            float4 loaded[kFlight];
#pragma unroll
            for (int i = 0; i < kFlight; ++i) loaded[i] = fours[i * kThreads];
#pragma unroll
            for (int i = 0; i < kFlight; ++i) {
                sums[i].x += loaded[i].x;
                sums[i].y += loaded[i].y;
                sums[i].z += loaded[i].z;
                sums[i].w += loaded[i].w;
            }
        } else {
            // The end, one by one. Unrolled, so that these loads are under way together as well: nobody waits longer
            // than for the last block.
#pragma unroll
            for (int i = 0; i < kFlight * 4; ++i) {
                const int64_t place = from + i * kThreads + threadIdx.x;
                if (place < n) sums[0].x += x[place];
            }
            break;
        }
    }
    float mine = 0.0f;
#pragma unroll
    for (int i = 0; i < kFlight; ++i) mine += (sums[i].x + sums[i].y) + (sums[i].z + sums[i].w);
    const float total = sum_of_block(mine);
    // Many blocks add to the same number: only an atomic addition loses none.
    if (threadIdx.x == 0) atomicAdd(out, total);
}

extern "C" void solve(const float* x, float* out, int64_t n) {
    // Before the kernel, on the same stream: within the kernel, a block may add before another clears.
    // Four bytes of 0 are 0.0f.
    cudaMemsetAsync(out, 0, sizeof(float), 0);
    if (n == 0) return;  // the sum of nothing is 0, and a grid of 0 blocks is a launch error
    add_up<<<static_cast<unsigned>((n + kPerBlock - 1) / kPerBlock), kThreads>>>(x, out, n);
}
