#include <cuda_runtime.h>
#include <stdint.h>

/* Doubles everywhere, so I need not think about rounding. Thread 0 adds up what the rest found. */
__global__ void k(const float *x, float *out, int64_t n)
{
    extern __shared__ double found[];
    double d = 0.0;
    int64_t i = threadIdx.x;
    while (i < n) {
        d += (double)x[i];
        i += blockDim.x;
    }
    found[threadIdx.x] = d;
    __syncthreads();
    if (threadIdx.x != 0)
        return;
    double r = 0.0;
    for (int j = 0; j < blockDim.x; j++)
        r += found[j];
    out[0] = (float)r;
}

extern "C" void solve(const float *x, float *out, int64_t n)
{
    k<<<1, 512, 512 * sizeof(double)>>>(x, out, n);
}
