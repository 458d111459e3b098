// A launch for each operation, as separate operations of a library: each goes through memory.
#include <cmath>
#include <cstdint>
#include <cuda_runtime.h>

__global__ void decay(float* p, float factor, int64_t n) {
    const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < n) p[i] *= factor;
}

__global__ void first_moment(float* m, const float* grad, float beta, int64_t n) {
    const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < n) m[i] = beta * m[i] + (1 - beta) * grad[i];
}

__global__ void second_moment(float* v, const float* grad, float beta, int64_t n) {
    const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < n) v[i] = beta * v[i] + (1 - beta) * grad[i] * grad[i];
}

__global__ void roots(const float* v, float* root, float correction, float eps, int64_t n) {
    const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < n) root[i] = sqrtf(v[i] / correction) + eps;
}

__global__ void move(float* p, const float* m, const float* root, float size, int64_t n) {
    const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < n) p[i] -= size * m[i] / root[i];
}

extern "C" void solve(float* p, float* m, float* v, const float* grad, float lr, float beta1, float beta2, float eps,
                      float weight_decay, float bias1, float bias2, int64_t n) {
    if (n == 0) return;
    const unsigned blocks = static_cast<unsigned>((n + 255) / 256);
    float* root = nullptr;
    if (cudaMallocAsync(reinterpret_cast<void**>(&root), n * sizeof(float), 0) != cudaSuccess) return;
    decay<<<blocks, 256>>>(p, 1 - lr * weight_decay, n);
    first_moment<<<blocks, 256>>>(m, grad, beta1, n);
    second_moment<<<blocks, 256>>>(v, grad, beta2, n);
    roots<<<blocks, 256>>>(v, root, bias2, eps, n);
    move<<<blocks, 256>>>(p, m, root, lr / bias1, n);
    cudaFreeAsync(root, 0);
}
