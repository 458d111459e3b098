#include <cuda_runtime.h>
#include <cstdint>

// Fused: a thread goes through its elements in chunks of 4, keeps a running maximum and corrects its sum on a new one.
__global__ void fused(const float* __restrict__ x, float* __restrict__ out, int64_t cols)
{
    const int T = 128;
    __shared__ float ms[T], ss[T];
    const float* a = x + blockIdx.x * cols;
    float run_m = -3.4e38f, run_s = 0.f;
    for (int64_t c = 4 * threadIdx.x; c < cols; c += 4 * T) {
        int many = cols - c < 4 ? (int)(cols - c) : 4;
        float chunk = run_m;
        for (int u = 0; u < many; u++) chunk = fmaxf(chunk, a[c + u]);
        run_s *= expf(run_m - chunk);
        for (int u = 0; u < many; u++) run_s += expf(a[c + u] - chunk);
        run_m = chunk;
    }
    ms[threadIdx.x] = run_m;
    ss[threadIdx.x] = run_s;
    __syncthreads();
    if (threadIdx.x < 32) {
        float M = ms[threadIdx.x];
        for (int k = 1; k < 4; k++) M = fmaxf(M, ms[threadIdx.x + 32 * k]);
        for (int k = 16; k; k >>= 1) M = fmaxf(M, __shfl_xor_sync(0xffffffffu, M, k));
        float S = 0.f;
        for (int k = 0; k < 4; k++) S += ss[threadIdx.x + 32 * k] * expf(ms[threadIdx.x + 32 * k] - M);
        for (int k = 16; k; k >>= 1) S += __shfl_xor_sync(0xffffffffu, S, k);
        if (threadIdx.x == 0) {
            // exp(-inf - -3.4e38) is 0: a row of -inf alone has the sum 0, and 0 / 0 below is NaN as wanted
            ms[0] = M;
            ss[0] = S;
        }
    }
    __syncthreads();
    float M = ms[0], S = ss[0];
    for (int64_t c = threadIdx.x; c < cols; c += T) out[blockIdx.x * cols + c] = expf(a[c] - M) / S;
}

extern "C" void solve(const float* x, float* out, int64_t rows, int64_t cols)
{
    if (rows == 0 || cols == 0) return;
    fused<<<rows, 128>>>(x, out, cols);
}
