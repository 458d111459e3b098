#include <cstdint>

__global__ void matmul(const float* a, const float* b, float* out, int m, int n, int k) {
    int i = blockIdx.y * 8 + threadIdx.y;
    int j = blockIdx.x * 32 + threadIdx.x;
    if (i >= m || j >= n) return;
    float sum = 0;
    for (int p = 0; p < k; p++) {
        sum += a[i * k + p] * b[p * n + j];
    }
    out[i * n + j] = sum;
}

extern "C" void solve(const float* a, const float* b, float* out, int64_t m, int64_t n, int64_t k) {
    matmul<<<dim3((n + 31) / 32, (m + 7) / 8), dim3(32, 8)>>>(a, b, out, m, n, k);
}
