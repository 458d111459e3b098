#include <cuda_runtime.h>
#include <cstdint>
#include <cfloat>

#define NT 256

__global__ void softmaxBlock(const float *x, float *y, int64_t cols)
{
    __shared__ float red[NT];
    const float *xr = x + blockIdx.x * cols;
    float *yr = y + blockIdx.x * cols;

    float m = -INFINITY;
    for (int64_t j = threadIdx.x; j < cols; j += NT)
        m = fmaxf(m, xr[j]);
    red[threadIdx.x] = m;
    __syncthreads();
    for (int k = NT / 2; k > 0; k >>= 1) {
        if (threadIdx.x < k)
            red[threadIdx.x] = fmaxf(red[threadIdx.x], red[threadIdx.x + k]);
        __syncthreads();
    }
    m = red[0];
    __syncthreads();

    float s = 0.0f;
    for (int64_t j = threadIdx.x; j < cols; j += NT) {
        float e = __expf(xr[j] - m);
        yr[j] = e;
        s += e;
    }
    red[threadIdx.x] = s;
    __syncthreads();
    for (int k = NT / 2; k > 0; k >>= 1) {
        if (threadIdx.x < k)
            red[threadIdx.x] += red[threadIdx.x + k];
        __syncthreads();
    }
    float inv = 1.0f / red[0];
    for (int64_t j = threadIdx.x; j < cols; j += NT)
        yr[j] *= inv;
}

extern "C" void solve(const float *x, float *out, int64_t rows, int64_t cols)
{
    if (rows > 0 && cols > 0)
        softmaxBlock<<<rows, NT>>>(x, out, cols);
}
