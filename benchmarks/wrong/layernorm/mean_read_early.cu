// Mistake: no barrier between thread 0's mean and the threads that read it.
// Says: __syncthreads|barrier
#include <cstdint>
__global__ void layernorm(const float* x, const float* gamma, const float* beta, float* out, float eps, int64_t cols) {
    __shared__ float mean, rstd;
    const float* row = x + blockIdx.x * cols;
    if (threadIdx.x == 0) {
        float s = 0, v = 0;
        for (int64_t c = 0; c < cols; c++) s += row[c];
        s /= cols;
        for (int64_t c = 0; c < cols; c++) v += (row[c] - s) * (row[c] - s);
        mean = s; // HERE
        rstd = rsqrtf(v / cols + eps); // HERE
    }
    for (int64_t c = threadIdx.x; c < cols; c += blockDim.x)
        out[blockIdx.x * cols + c] = (row[c] - mean) * rstd * gamma[c] + beta[c]; // HERE
}
extern "C" void solve(const float* x, const float* gamma, const float* beta, float* out, float eps, int64_t rows, int64_t cols) {
    if (rows && cols) layernorm<<<rows, 128>>>(x, gamma, beta, out, eps, cols);
}
