// Mistake: adds to out atomically, and nothing sets out to 0 before.
// Says: old values of out ; set it to 0
#include <cstdint>
#include <cuda_runtime.h>

__global__ void add_up(const float* values, const int64_t* offsets, float* out, int64_t groups) {
    const int64_t group = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (group >= groups) return;
    const int64_t end = offsets[group + 1];
    float sum = 0.0f;
    for (int64_t i = offsets[group]; i < end; ++i) sum += values[i];
    atomicAdd(out + group, sum);
}

extern "C" void solve(const float* values, const int64_t* offsets, float* out, int64_t n, int64_t groups) {
    if (groups > 0) add_up<<<static_cast<unsigned>((groups + 255) / 256), 256>>>(values, offsets, out, groups);
}
