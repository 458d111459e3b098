// Mistake: the reduction over the warp begins at 8 in place of 16: half of the lanes are never added.
#include <cstdint>
#include <cuda_runtime.h>

__global__ void add_up(const float* values, const int64_t* offsets, float* out, int64_t groups) {
    const int64_t group = (static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x) / 32;
    if (group >= groups) return;
    const int64_t end = offsets[group + 1];
    float sum = 0.0f;
    for (int64_t i = offsets[group] + threadIdx.x % 32; i < end; i += 32) sum += values[i];
    for (int distance = 8; distance > 0; distance /= 2) sum += __shfl_down_sync(0xffffffffu, sum, distance);
    if (threadIdx.x % 32 == 0) out[group] = sum;
}

extern "C" void solve(const float* values, const int64_t* offsets, float* out, int64_t n, int64_t groups) {
    if (groups > 0) add_up<<<static_cast<unsigned>((groups + 7) / 8), 256>>>(values, offsets, out, groups);
}
