// Mistake: a value is stored in an int, which cuts its fraction off.
// Says: (integer|int\b|whole number|fraction)
#include <cuda_runtime.h>
#include <cstdint>

__global__ void saxpy(const float* x, float* y, float alpha, int64_t n) {
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        int v = y[i]; // HERE
        y[i] = alpha * x[i] + v;
    }
}

extern "C" void solve(const float* x, float* y, float alpha, int64_t n) {
    if (n > 0) saxpy<<<(n + 255) / 256, 256>>>(x, y, alpha, n);
}
