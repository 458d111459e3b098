// Mistake: each element lacks its own value.
// Says: (exclusive|too late|own value|one element earlier|1 place|without)
#include <cstdint>
#include <cuda_runtime.h>

__global__ void scan(const float* x, const uint8_t* flags, float* out, int64_t n) {
    float sum = 0;
    for (int64_t i = 0; i < n; i++) {
        if (flags[i]) sum = 0;
        out[i] = sum;
        sum += x[i];
    }
}

extern "C" void solve(const float* x, const uint8_t* flags, float* out, int64_t n) {
    if (n) scan<<<1, 1>>>(x, flags, out, n);
}
