// Mistake: the sum is computed in half precision.
// Says: (half|16 bits|float16|precision|rounded)
#include <cuda_fp16.h>
__global__ void add(const float* a, const float* b, float* out, int64_t n) {
    int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (i < n) out[i] = __half2float(__hadd(__float2half(a[i]), __float2half(b[i])));  // HERE
}
extern "C" void solve(const float* a, const float* b, float* out, int64_t n) {
    if (n > 0) add<<<(n + 255) / 256, 256>>>(a, b, out, n);
}
