// Mistake: the result is written as float, twice as wide as its elements.
// Says: past the end|float
#include <cuda_runtime.h>
#include <cuda_fp16.h>
#include <cstdint>

__global__ void mm(const __half* a, const __half* b, float* c, int64_t m, int64_t n, int64_t k) {
    int64_t col = (int64_t)blockIdx.x * 16 + threadIdx.x, row = (int64_t)blockIdx.y * 16 + threadIdx.y;
    if (row >= m || col >= n) return;
    float acc = 0;
    for (int64_t p = 0; p < k; p++) acc += __half2float(a[row * k + p]) * __half2float(b[p * n + col]);
    c[row * n + col] = acc; // HERE
}

extern "C" void solve(const __half* a, const __half* b, __half* out, int64_t m, int64_t n, int64_t k) {
    if (m && n) mm<<<dim3((n + 15) / 16, (m + 15) / 16), dim3(16, 16)>>>(a, b, (float*)out, m, n, k);
}
