// Writes all products to memory, and sums them in a second launch.
#include <cstdint>
#include <cuda_runtime.h>

__global__ void multiply(const float* a, const float* b, float* products, int64_t n) {
    const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < n) products[i] = a[i] * b[i];
}

__global__ void sum(const float* x, float* out, int64_t n) {
    __shared__ float parts[256];
    float value = 0.0f;
    for (int64_t i = static_cast<int64_t>(blockIdx.x) * 256 + threadIdx.x; i < n; i += gridDim.x * 256) value += x[i];
    parts[threadIdx.x] = value;
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
        if (threadIdx.x < half) parts[threadIdx.x] += parts[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) atomicAdd(out, parts[0]);
}

extern "C" void solve(const float* a, const float* b, float* out, int64_t n) {
    cudaMemsetAsync(out, 0, sizeof(float), 0);
    if (n == 0) return;
    float* products = nullptr;
    if (cudaMallocAsync(reinterpret_cast<void**>(&products), n * sizeof(float), 0) != cudaSuccess) return;
    multiply<<<static_cast<unsigned>((n + 255) / 256), 256>>>(a, b, products, n);
    sum<<<1024, 256>>>(products, out, n);
    cudaFreeAsync(products, 0);
}
