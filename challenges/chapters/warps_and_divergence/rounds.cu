#include <cstdint>

__global__ void relu(const float* x, float* out) {
    int first = blockIdx.x * 300;
#pragma unroll 1
    for (int k = threadIdx.x; k < 300; k += 128) {
        float v = x[first + k];
        out[first + k] = v < 0 ? 0 : v;
    }
}

extern "C" void solve(const float* x, float* out, int64_t n) {
    // n is 3000: 10 blocks, each for 300 elements
    relu<<<10, 128>>>(x, out);
}
