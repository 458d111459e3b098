// Mistake: the guard lets i = n through.
// Says: past the end ; (lets i = n|i = n through|>= n|last one is n - 1)
#include <cuda_runtime.h>
#include <cstdint>

__global__ void relu(const float* x, float* y, int64_t n) {
    int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (i > n) return; // HERE
    float v = x[i]; // HERE
    y[i] = v > 0.0f || v != v ? v : 0.0f;
}

extern "C" void solve(const float* x, float* out, int64_t n) {
    relu<<<n / 128 + 1, 128>>>(x, out, n);
}
