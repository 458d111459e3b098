// Mistake: fmaxf drops NaN.
// Says: NaN ; (fmaxf|other (number|operand)|returns the number)
#include <cuda_runtime.h>
#include <cstdint>

__global__ void relu(const float* __restrict__ x, float* __restrict__ y, int64_t n) {
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (int64_t)blockDim.x * gridDim.x)
        y[i] = fmaxf(0.0f, x[i]); // HERE
}

extern "C" void solve(const float* x, float* out, int64_t n) {
    relu<<<512, 256>>>(x, out, n);
}
