// dx by a block for each row; dgamma and dbeta by a thread for each column and 64 rows, and atomic additions.
#include <cstdint>
#include <cuda_runtime.h>

constexpr int kThreads = 256, kRows = 64;

// Over the block, for all of its threads.
__device__ float all_sum(float value) {
    __shared__ float parts[kThreads];
    __syncthreads();
    parts[threadIdx.x] = value;
    __syncthreads();
    for (int half = kThreads / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) parts[threadIdx.x] += parts[threadIdx.x + half];
        __syncthreads();
    }
    return parts[0];
}

__global__ void rows_of_dx(const float* dy, const float* x, const float* gamma, const float* mean, const float* rstd,
                           float* dx, int64_t cols) {
    const int64_t row = blockIdx.x, base = row * cols;
    float sum = 0.0f, products = 0.0f;
    for (int64_t i = threadIdx.x; i < cols; i += kThreads) {
        const float weighted = dy[base + i] * gamma[i];
        sum += weighted;
        products += weighted * ((x[base + i] - mean[row]) * rstd[row]);
    }
    sum = all_sum(sum) / cols;
    products = all_sum(products) / cols;
    for (int64_t i = threadIdx.x; i < cols; i += kThreads) {
        const float h = (x[base + i] - mean[row]) * rstd[row];
        dx[base + i] = rstd[row] * (dy[base + i] * gamma[i] - sum - h * products);
    }
}

__global__ void columns(const float* dy, const float* x, const float* mean, const float* rstd, float* dgamma,
                        float* dbeta, int64_t rows, int64_t cols) {
    const int64_t column = static_cast<int64_t>(blockIdx.x) * 32 + threadIdx.x;
    if (column >= cols) return;
    float gamma = 0.0f, beta = 0.0f;
    for (int64_t r = static_cast<int64_t>(blockIdx.y) * kRows; r < (blockIdx.y + 1) * int64_t{kRows} && r < rows; ++r) {
        beta += dy[r * cols + column];
        gamma += dy[r * cols + column] * ((x[r * cols + column] - mean[r]) * rstd[r]);
    }
    atomicAdd(&dgamma[column], gamma);
    atomicAdd(&dbeta[column], beta);
}

extern "C" void solve(const float* dy, const float* x, const float* gamma, const float* mean, const float* rstd,
                      float* dx, float* dgamma, float* dbeta, int64_t rows, int64_t cols) {
    if (cols == 0) return;
    cudaMemsetAsync(dgamma, 0, cols * sizeof(float), 0);
    cudaMemsetAsync(dbeta, 0, cols * sizeof(float), 0);
    if (rows == 0) return;
    rows_of_dx<<<static_cast<unsigned>(rows), kThreads>>>(dy, x, gamma, mean, rstd, dx, cols);
    columns<<<dim3((cols + 31) / 32, (rows + kRows - 1) / kRows), 32>>>(dy, x, mean, rstd, dgamma, dbeta, rows, cols);
}
