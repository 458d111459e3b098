// One thread for each result, which reads its rows from global memory.
#include <cstdint>
#include <cuda_bf16.h>
#include <cuda_fp8.h>
#include <cuda_runtime.h>

constexpr int64_t kBlock = 128;

__global__ void matmul(const __nv_fp8_e4m3* a, const float* a_scale, const __nv_fp8_e4m3* b, const float* b_scale,
                       __nv_bfloat16* out, int64_t m, int64_t n, int64_t k, int64_t blocks) {
    const int64_t column = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    const int64_t row = static_cast<int64_t>(blockIdx.y) * blockDim.y + threadIdx.y;
    if (row >= m || column >= n) return;
    float total = 0;
    for (int64_t block = 0; block < blocks; ++block) {
        const int64_t end = k < (block + 1) * kBlock ? k : (block + 1) * kBlock;
        float sum = 0;
        for (int64_t p = block * kBlock; p < end; ++p)
            sum += static_cast<float>(a[row * k + p]) * static_cast<float>(b[column * k + p]);
        total += sum * a_scale[row * blocks + block] * b_scale[column / kBlock * blocks + block];
    }
    out[row * n + column] = __float2bfloat16(total);
}

extern "C" void solve(const __nv_fp8_e4m3* a, const float* a_scale, const __nv_fp8_e4m3* b, const float* b_scale,
                      __nv_bfloat16* out, int64_t m, int64_t n, int64_t k) {
    const dim3 threads(32, 8), blocks((n + 31) / 32, (m + 7) / 8);
    if (m && n) matmul<<<blocks, threads>>>(a, a_scale, b, b_scale, out, m, n, k, (k + kBlock - 1) / kBlock);
}
