// Mistake: eps is added to the root instead of under it.
// Says: eps ; root|sqrt
#include <cuda_runtime.h>
#include <cstdint>

__global__ void rmsnorm(const float* x, const float* g, float* out, float eps, int64_t rows, int64_t cols) {
    int64_t r = blockIdx.x;
    __shared__ double s[128];
    double mine = 0;
    for (int64_t c = threadIdx.x; c < cols; c += 128) mine += (double)x[r * cols + c] * x[r * cols + c];
    s[threadIdx.x] = mine;
    __syncthreads();
    for (int d = 64; d; d /= 2) {
        if (threadIdx.x < d) s[threadIdx.x] += s[threadIdx.x + d];
        __syncthreads();
    }
    float rms = sqrtf(s[0] / cols) + eps; // HERE
    for (int64_t c = threadIdx.x; c < cols; c += 128) out[r * cols + c] = x[r * cols + c] / rms * g[c];
}

extern "C" void solve(const float* x, const float* gamma, float* out, float eps, int64_t rows, int64_t cols) {
    if (rows && cols) rmsnorm<<<rows, 128>>>(x, gamma, out, eps, rows, cols);
}
