// Mistake: adds up with warp shuffles and forgets that a block has eight warps: each takes its own part of the row for
// the whole.
#include <cstdint>
#include <cuda_runtime.h>

constexpr int kThreads = 256;

struct Pair {
    float first, second;
};

__device__ Pair block_sum(Pair mine) {
    for (int offset = 16; offset > 0; offset /= 2) {
        mine.first += __shfl_xor_sync(0xffffffffu, mine.first, offset);
        mine.second += __shfl_xor_sync(0xffffffffu, mine.second, offset);
    }
    return mine;
}

__global__ void gradient_of_x(const float* dy, const float* x, const float* gamma, const float* mean,
                              const float* rstd, float* dx, int64_t cols) {
    const int64_t row = blockIdx.x;
    const float* gradients = dy + row * cols;
    const float* values = x + row * cols;
    Pair moments = {0.0f, 0.0f};
    for (int64_t i = threadIdx.x; i < cols; i += kThreads) {
        const float weighted = gradients[i] * gamma[i];
        moments.first += weighted;
        moments.second += weighted * ((values[i] - mean[row]) * rstd[row]);
    }
    moments = block_sum(moments);
    for (int64_t i = threadIdx.x; i < cols; i += kThreads) {
        const float normal = (values[i] - mean[row]) * rstd[row];
        dx[row * cols + i] =
            rstd[row] * (gradients[i] * gamma[i] - moments.first / cols - normal * (moments.second / cols));
    }
}

__global__ void gradients_of_columns(const float* dy, const float* x, const float* mean, const float* rstd,
                                     float* dgamma, float* dbeta, int64_t rows, int64_t cols) {
    const int64_t column = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
    if (column >= cols) return;
    float total_dgamma = 0.0f, total_dbeta = 0.0f;
    for (int64_t row = 0; row < rows; ++row) {
        const float gradient = dy[row * cols + column];
        total_dgamma += gradient * ((x[row * cols + column] - mean[row]) * rstd[row]);
        total_dbeta += gradient;
    }
    dgamma[column] = total_dgamma;
    dbeta[column] = total_dbeta;
}

extern "C" void solve(const float* dy, const float* x, const float* gamma, const float* mean, const float* rstd,
                      float* dx, float* dgamma, float* dbeta, int64_t rows, int64_t cols) {
    if (cols == 0) return;
    if (rows > 0)
        gradient_of_x<<<static_cast<unsigned>(rows), kThreads>>>(dy, x, gamma, mean, rstd, dx, cols);
    gradients_of_columns<<<static_cast<unsigned>((cols + kThreads - 1) / kThreads), kThreads>>>(
        dy, x, mean, rstd, dgamma, dbeta, rows, cols);
}
