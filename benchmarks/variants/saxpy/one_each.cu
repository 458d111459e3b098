// One element a thread.
#include <cstdint>
#include <cuda_runtime.h>

__global__ void saxpy(const float* x, float* y, float alpha, int64_t n) {
    const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < n) y[i] = alpha * x[i] + y[i];
}

extern "C" void solve(const float* x, float* y, float alpha, int64_t n) {
    if (n == 0) return;
    saxpy<<<static_cast<unsigned>((n + 127) / 128), 128>>>(x, y, alpha, n);
}
