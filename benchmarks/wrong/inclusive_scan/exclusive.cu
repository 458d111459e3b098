// Mistake: an exclusive scan: each element lacks its own value.
// Says: (exclusive|too late|own value|one element earlier|1 place)
#include <cuda_runtime.h>
#include <cstdint>

__global__ void scan(const float* x, float* out, int64_t n) {
    double sum = 0;
    for (int64_t i = 0; i < n; i++) {
        out[i] = sum;
        sum += x[i];
    }
}

extern "C" void solve(const float* x, float* out, int64_t n) {
    if (n > 0) scan<<<1, 1>>>(x, out, n);
}
