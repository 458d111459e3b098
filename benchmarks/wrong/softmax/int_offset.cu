// Mistake: the offset of a row is computed in 32 bits.
// Says: 32.bit|64 bits
#include <cuda_runtime.h>
#include <cmath>
#include <cstdint>

__global__ void softmax(const float* x, float* out, int cols) {
    __shared__ float s[256];
    int t = threadIdx.x, base = blockIdx.x * cols; // HERE
    float m = -INFINITY;
    for (int c = t; c < cols; c += 256) m = fmaxf(m, x[base + c]); // HERE
    s[t] = m;
    __syncthreads();
    for (int d = 128; d; d /= 2) {
        if (t < d) s[t] = fmaxf(s[t], s[t + d]);
        __syncthreads();
    }
    m = s[0];
    __syncthreads();
    float v = 0;
    for (int c = t; c < cols; c += 256) v += expf(x[base + c] - m);
    s[t] = v;
    __syncthreads();
    for (int d = 128; d; d /= 2) {
        if (t < d) s[t] += s[t + d];
        __syncthreads();
    }
    for (int c = t; c < cols; c += 256) out[base + c] = expf(x[base + c] - m) / s[0];
}

extern "C" void solve(const float* x, float* out, int64_t rows, int64_t cols) {
    if (rows && cols) softmax<<<rows, 256>>>(x, out, cols);
}
