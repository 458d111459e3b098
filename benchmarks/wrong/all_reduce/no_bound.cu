// Mistake: the spare threads of the last block go on.
// Says: GPU 0 ; past the end ; [xo]
#include <cstdint>
#include <cuda_runtime.h>

__global__ void add(const float* own, const float* other, float* out) {
    const int64_t i = blockIdx.x * static_cast<int64_t>(blockDim.x) + threadIdx.x;
    out[i] = own[i] + other[i];  // HERE
}

extern "C" void solve(const float* const* x, float* const* out, int64_t n, int64_t gpus) {
    if (n == 0) return;
    for (int gpu = 0; gpu < 2; ++gpu) {
        cudaSetDevice(gpu);
        add<<<static_cast<unsigned>((n + 255) / 256), 256>>>(x[gpu], x[1 - gpu], out[gpu]);
    }
}
