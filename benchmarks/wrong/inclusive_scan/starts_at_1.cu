// Mistake: the running total begins without the first element.
// Says: (first|x\[0\]|less than|offset)
#include <cuda_runtime.h>
#include <cstdint>

__global__ void scan(const float* x, float* out, int64_t n) {
    double total = 0;
    out[0] = 0;
    for (int64_t i = 1; i < n; i++) {
        total += x[i];
        out[i] = total;
    }
}

extern "C" void solve(const float* x, float* out, int64_t n) {
    if (n) scan<<<1, 1>>>(x, out, n);
}
