#include <cstdint>
#include <cuda_runtime.h>

__global__ void inner(const float* u, const float* v, float* result, int64_t length) {
    float sum = 0.0f;
    for (int64_t i = 0; i < length; ++i) {
        sum = sum + u[i] * v[i];
    }
    result[0] = sum;
}

extern "C" void solve(const float* a, const float* b, float* out, int64_t n) {
    inner<<<1, 1>>>(a, b, out, n);
}
