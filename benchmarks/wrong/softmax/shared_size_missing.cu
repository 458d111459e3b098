// Mistake: the launch gives no bytes of dynamic shared memory, but the kernel uses an extern array.
// Says: shared ; (launch|third|dynamic|<<<)
#include <cuda_runtime.h>
#include <cmath>
#include <cstdint>

__global__ void softmax(const float* x, float* out, int64_t cols) {
    extern __shared__ float s[];
    int t = threadIdx.x;
    const float* r = x + (int64_t)blockIdx.x * cols;
    float m = -INFINITY;
    for (int64_t c = t; c < cols; c += blockDim.x) m = fmaxf(m, r[c]);
    s[t] = m;
    __syncthreads();
    for (int d = blockDim.x / 2; d > 0; d /= 2) {
        if (t < d) s[t] = fmaxf(s[t], s[t + d]);
        __syncthreads();
    }
    m = s[0];
    __syncthreads();
    float v = 0;
    for (int64_t c = t; c < cols; c += blockDim.x) v += expf(r[c] - m);
    s[t] = v;
    __syncthreads();
    for (int d = blockDim.x / 2; d > 0; d /= 2) {
        if (t < d) s[t] += s[t + d];
        __syncthreads();
    }
    for (int64_t c = t; c < cols; c += blockDim.x) out[(int64_t)blockIdx.x * cols + c] = expf(r[c] - m) / s[0];
}

extern "C" void solve(const float* x, float* out, int64_t rows, int64_t cols) {
    if (rows && cols) softmax<<<rows, 256>>>(x, out, cols);
}
