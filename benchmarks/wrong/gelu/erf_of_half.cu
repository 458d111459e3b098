// Mistake: erf takes x / 2 instead of x / sqrt(2).
// Says: (erf|0\.7071|x \*|within|argument) ; (sqrt|0\.7071|factor|constant|multipl|divid|times)
#include <cstdint>
#include <cuda_runtime.h>
__global__ void f(const float* x, float* out, int64_t n) {
    int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (i < n) out[i] = 0.5f * x[i] * (1 + erff(x[i] / 2));
}
extern "C" void solve(const float* x, float* out, int64_t n) {
    if (n) f<<<(n + 255) / 256, 256>>>(x, out, n);
}
