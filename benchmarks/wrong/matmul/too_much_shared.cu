// Mistake: 64 KiB of dynamic shared memory without cudaFuncSetAttribute.
// Says: shared ; (cudaFuncSetAttribute|48|49,152|at most|more than)
#include <cuda_runtime.h>
#include <cstdint>

__global__ void matmul(const float* a, const float* b, float* c, int m, int n, int k) {
    extern __shared__ float buf[];
    int row = blockIdx.y * 32 + threadIdx.y, col = blockIdx.x * 32 + threadIdx.x;
    int t = threadIdx.y * 32 + threadIdx.x;
    float acc = 0;
    for (int p = 0; p < k; p += 32) {
        buf[t] = row < m && p + threadIdx.x < k ? a[(size_t)row * k + p + threadIdx.x] : 0;
        buf[8192 + t] = col < n && p + threadIdx.y < k ? b[(size_t)(p + threadIdx.y) * n + col] : 0;
        __syncthreads();
        for (int q = 0; q < 32; q++) acc += buf[threadIdx.y * 32 + q] * buf[8192 + q * 32 + threadIdx.x];
        __syncthreads();
    }
    if (row < m && col < n) c[(size_t)row * n + col] = acc;
}

extern "C" void solve(const float* a, const float* b, float* out, int64_t m, int64_t n, int64_t k) {
    if (m == 0 || n == 0) return;
    matmul<<<dim3((n + 31) / 32, (m + 31) / 32), dim3(32, 32), 65536>>>(a, b, out, m, n, k); // HERE
}
