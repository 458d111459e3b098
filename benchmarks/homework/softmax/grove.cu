#include <stdint.h>
#include <cuda_runtime.h>

/* step by step, a kernel for each line of the formula */
__global__ void maxima(const float *x, float *mx, int64_t rows, int64_t cols)
{
    int64_t i = blockIdx.x * 32LL + threadIdx.x;
    if (i < rows) {
        float v = -INFINITY;
        for (int64_t j = 0; j < cols; ++j)
            if (x[i * cols + j] > v)
                v = x[i * cols + j];
        mx[i] = v;
    }
}

__global__ void exponentials(const float *x, const float *mx, float *out, int64_t rows, int64_t cols)
{
    int64_t k = blockIdx.x * 256LL + threadIdx.x;
    if (k < rows * cols)
        out[k] = expf(x[k] - mx[k / cols]);
}

__global__ void sums(const float *e, double *sm, int64_t rows, int64_t cols)
{
    int64_t i = blockIdx.x * 32LL + threadIdx.x;
    if (i < rows) {
        double v = 0;
        for (int64_t j = 0; j < cols; ++j)
            v += e[i * cols + j];
        sm[i] = v;
    }
}

__global__ void divide(float *e, const double *sm, int64_t rows, int64_t cols)
{
    int64_t k = blockIdx.x * 256LL + threadIdx.x;
    if (k < rows * cols)
        e[k] = (float)(e[k] / sm[k / cols]);
}

extern "C" void solve(const float *x, float *out, int64_t rows, int64_t cols)
{
    if (rows == 0 || cols == 0)
        return;
    float *mx;
    double *sm;
    cudaMalloc((void **)&mx, rows * sizeof(float));
    cudaMalloc((void **)&sm, rows * sizeof(double));
    int64_t elementwise = (rows * cols + 255) / 256, rowwise = (rows + 31) / 32;
    maxima<<<rowwise, 32>>>(x, mx, rows, cols);
    exponentials<<<elementwise, 256>>>(x, mx, out, rows, cols);
    sums<<<rowwise, 32>>>(out, sm, rows, cols);
    divide<<<elementwise, 256>>>(out, sm, rows, cols);
    cudaFree(mx);
    cudaFree(sm);
}
