// One thread for each result: a product of a block of 32, times both scales, in float32.
#include <cstdint>
#include <cuda_bf16.h>
#include <cuda_fp8.h>

constexpr int kBlock = 32;

__global__ void multiply(const __nv_fp8_e4m3* a, const __nv_fp8_e4m3* b, const __nv_fp8_e8m0* a_scale,
                         const __nv_fp8_e8m0* b_scale, __nv_bfloat16* out, int64_t m, int64_t n, int64_t blocks) {
    const int64_t column = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    const int64_t row = static_cast<int64_t>(blockIdx.y) * blockDim.y + threadIdx.y;
    if (row >= m || column >= n) return;
    float sum = 0;
    for (int64_t block = 0; block < blocks; ++block) {
        const int64_t in_a = row * blocks + block, in_b = column * blocks + block;
        float product = 0;
        for (int i = 0; i < kBlock; ++i) {
            product += static_cast<float>(a[in_a * kBlock + i]) * static_cast<float>(b[in_b * kBlock + i]);
        }
        sum += product * static_cast<float>(a_scale[in_a]) * static_cast<float>(b_scale[in_b]);
    }
    out[row * n + column] = __float2bfloat16(sum);
}

extern "C" void solve(const __nv_fp8_e4m3* a, const __nv_fp8_e4m3* b, const __nv_fp8_e8m0* a_scale,
                      const __nv_fp8_e8m0* b_scale, __nv_bfloat16* out, int64_t m, int64_t blocks, int64_t n) {
    if (m == 0 || n == 0) return;
    const dim3 threads(16, 16);
    const dim3 grid(static_cast<unsigned>((n + 15) / 16), static_cast<unsigned>((m + 15) / 16));
    multiply<<<grid, threads>>>(a, b, a_scale, b_scale, out, m, n, blocks);
}
