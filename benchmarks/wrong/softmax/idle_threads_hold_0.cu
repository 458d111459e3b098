// Mistake: threads beyond the row put 0 into the maximum, which is too large for a row of negative numbers.
// Says: (maximum|max) ; \b0\b ; (negative|-INFINITY|neutral)
#include <cuda_runtime.h>
#include <cstdint>

__global__ void softmax(const float* x, float* out, int cols) {
    __shared__ float s[1024];
    int t = threadIdx.x;
    const float* r = x + (int64_t)blockIdx.x * cols;
    float m = t < cols ? r[t] : 0.0f; // HERE
    for (int c = t + 1024; c < cols; c += 1024) m = fmaxf(m, r[c]);
    s[t] = m;
    __syncthreads();
    for (int d = 512; d; d /= 2) {
        if (t < d) s[t] = fmaxf(s[t], s[t + d]);
        __syncthreads();
    }
    m = s[0];
    __syncthreads();
    float sum = 0.0f;
    for (int c = t; c < cols; c += 1024) sum += expf(r[c] - m);
    s[t] = sum;
    __syncthreads();
    for (int d = 512; d; d /= 2) {
        if (t < d) s[t] += s[t + d];
        __syncthreads();
    }
    for (int c = t; c < cols; c += 1024) out[(int64_t)blockIdx.x * cols + c] = expf(r[c] - m) / s[0];
}

extern "C" void solve(const float* x, float* out, int64_t rows, int64_t cols) {
    if (rows && cols) softmax<<<rows, 1024>>>(x, out, cols);
}
