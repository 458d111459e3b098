// One thread for each result: the sum in int32, then the scales in float32.
#include <cstdint>
#include <cuda_fp16.h>

__global__ void multiply(const int8_t* a, const int8_t* b, const float* a_scale, const float* b_scale, __half* out,
                         int64_t m, int64_t n, int64_t k) {
    const int64_t column = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    const int64_t row = static_cast<int64_t>(blockIdx.y) * blockDim.y + threadIdx.y;
    if (row >= m || column >= n) return;
    int32_t sum = 0;
    for (int64_t i = 0; i < k; ++i) sum += a[row * k + i] * b[i * n + column];
    out[row * n + column] = __float2half(static_cast<float>(sum) * a_scale[row] * b_scale[column]);
}

extern "C" void solve(const int8_t* a, const int8_t* b, const float* a_scale, const float* b_scale, __half* out,
                      int64_t m, int64_t k, int64_t n) {
    if (m == 0 || n == 0) return;
    const dim3 threads(16, 16);
    const dim3 grid(static_cast<unsigned>((n + 15) / 16), static_cast<unsigned>((m + 15) / 16));
    multiply<<<grid, threads>>>(a, b, a_scale, b_scale, out, m, n, k);
}
