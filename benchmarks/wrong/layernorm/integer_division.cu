// Mistake: 1 / cols is an integer division, so every mean is 0.
// Says: integer ; divid
#include <cuda_runtime.h>
#include <cstdint>

__global__ void layernorm(const float* x, const float* gamma, const float* beta, float* out, float eps, int cols) {
    __shared__ float part[128];
    const float* row = x + (size_t)blockIdx.x * cols;
    float scale = 1 / cols; // HERE
    float s = 0;
    for (int c = threadIdx.x; c < cols; c += 128) s += row[c];
    part[threadIdx.x] = s;
    __syncthreads();
    for (int d = 64; d > 0; d /= 2) {
        if (threadIdx.x < d) part[threadIdx.x] += part[threadIdx.x + d];
        __syncthreads();
    }
    float mean = part[0] * scale;
    __syncthreads();
    s = 0;
    for (int c = threadIdx.x; c < cols; c += 128) s += (row[c] - mean) * (row[c] - mean);
    part[threadIdx.x] = s;
    __syncthreads();
    for (int d = 64; d > 0; d /= 2) {
        if (threadIdx.x < d) part[threadIdx.x] += part[threadIdx.x + d];
        __syncthreads();
    }
    float rstd = rsqrtf(part[0] / cols + eps);
    for (int c = threadIdx.x; c < cols; c += 128)
        out[(size_t)blockIdx.x * cols + c] = (row[c] - mean) * rstd * gamma[c] + beta[c];
}

extern "C" void solve(const float* x, const float* gamma, const float* beta, float* out, float eps, int64_t rows, int64_t cols) {
    if (rows > 0 && cols > 0) layernorm<<<rows, 128>>>(x, gamma, beta, out, eps, cols);
}
