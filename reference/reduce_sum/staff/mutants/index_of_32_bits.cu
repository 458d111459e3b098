// Mistake on a GPU: keeps n in int, so that beyond 2^31 elements there seem to be none.
#include <cstdint>
#include <cuda_runtime.h>

__global__ void sum(const float* x, float* out, int n) {
    float mine = 0.0f;
    const int64_t step = static_cast<int64_t>(gridDim.x) * blockDim.x;
    for (int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step) mine += x[i];
    for (int lane = 16; lane > 0; lane /= 2) mine += __shfl_down_sync(0xffffffffu, mine, lane);
    if (threadIdx.x % 32 == 0) atomicAdd(out, mine);
}

extern "C" void solve(const float* x, float* out, int64_t n) {
    cudaMemsetAsync(out, 0, sizeof(float), 0);
    if (n > 0) sum<<<2048, 256>>>(x, out, static_cast<int>(n));
}
