// Each GPU copies the other's numbers into memory of its own, and adds when all are there.
#include <cstdint>
#include <cuda_runtime.h>

__global__ void add(const float* own, const float* other, float* out, int64_t n) {
    const int64_t i = blockIdx.x * static_cast<int64_t>(blockDim.x) + threadIdx.x;
    if (i < n) out[i] = own[i] + other[i];
}

extern "C" void solve(const float* const* x, float* const* out, int64_t n, int64_t gpus) {
    static float* received[2];
    static int64_t room;
    if (n == 0) return;
    for (int gpu = 0; n > room && gpu < 2; ++gpu) {
        cudaSetDevice(gpu);
        cudaFree(received[gpu]);
        cudaMalloc(&received[gpu], n * sizeof(float));
    }
    if (n > room) room = n;
    for (int gpu = 0; gpu < 2; ++gpu) {
        cudaSetDevice(gpu);
        cudaMemcpyPeerAsync(received[gpu], gpu, x[1 - gpu], 1 - gpu, n * sizeof(float), 0);
        add<<<static_cast<unsigned>((n + 255) / 256), 256>>>(x[gpu], received[gpu], out[gpu], n);
    }
}
