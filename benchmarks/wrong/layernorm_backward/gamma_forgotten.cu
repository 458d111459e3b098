// Mistake: dx is computed from dy, without gamma.
// Says: gamma ; (no thread reads|ignored|never|effect|1:|without|not multipl)
#include <cstdint>
#include <cuda_runtime.h>
__global__ void gradient(const float* dy, const float* x, const float* gamma, const float* mean, const float* rstd, float* dx, int64_t cols) {
    int64_t r = blockIdx.x;
    const float *d = dy + r * cols, *v = x + r * cols;
    double one = 0, two = 0;
    for (int64_t c = 0; c < cols; c++) {
        double w = d[c], h = (v[c] - mean[r]) * rstd[r];
        one += w;
        two += w * h;
    }
    one /= cols;
    two /= cols;
    for (int64_t c = threadIdx.x; c < cols; c += 32) {
        double w = d[c], h = (v[c] - mean[r]) * rstd[r];
        dx[r * cols + c] = rstd[r] * (w - one - h * two);
    }
}
__global__ void sums(const float* dy, const float* x, const float* mean, const float* rstd, float* dgamma, float* dbeta, int64_t rows, int64_t cols) {
    int64_t c = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (c >= cols) return;
    float g = 0, b = 0;
    for (int64_t r = 0; r < rows; r++) {
        g += dy[r * cols + c] * (x[r * cols + c] - mean[r]) * rstd[r];
        b += dy[r * cols + c];
    }
    dgamma[c] = g;
    dbeta[c] = b;
}
extern "C" void solve(const float* dy, const float* x, const float* gamma, const float* mean, const float* rstd, float* dx, float* dgamma, float* dbeta, int64_t rows, int64_t cols) {
    if (cols) sums<<<(cols + 63) / 64, 64>>>(dy, x, mean, rstd, dgamma, dbeta, rows, cols);
    if (rows && cols) gradient<<<rows, 32>>>(dy, x, gamma, mean, rstd, dx, cols);
}
