// Mistake: 1 / count is a quotient of integers, which is 0.
// Says: integer ; 0 for every
#include <cstdint>
#include <cuda_runtime.h>

constexpr int kThreads = 256;

__device__ float block_sum(float value) {
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

__global__ void batch_norm(const float* x, const float* gamma, const float* beta, float* out, float* mean_out,
                           float* rstd_out, float eps, int64_t batch, int64_t channels, int64_t spatial) {
    const int64_t channel = blockIdx.x, count = batch * spatial;
    const auto at = [&](int64_t i) { return (i / spatial * channels + channel) * spatial + i % spatial; };
    float sum = 0.0f, squares = 0.0f;
    for (int64_t i = threadIdx.x; i < count; i += kThreads) sum += x[at(i)];
    const float share = 1 / count;  // HERE
    const float mean = block_sum(sum) * share;
    for (int64_t i = threadIdx.x; i < count; i += kThreads) squares += (x[at(i)] - mean) * (x[at(i)] - mean);
    const float rstd = rsqrtf(block_sum(squares) * share + eps);
    for (int64_t i = threadIdx.x; i < count; i += kThreads)
        out[at(i)] = (x[at(i)] - mean) * rstd * gamma[channel] + beta[channel];
    if (threadIdx.x == 0) mean_out[channel] = mean, rstd_out[channel] = rstd;
}

extern "C" void solve(const float* x, const float* gamma, const float* beta, float* out, float* mean, float* rstd,
                      float eps, int64_t batch, int64_t channels, int64_t spatial) {
    if (channels)
        batch_norm<<<static_cast<unsigned>(channels), kThreads>>>(x, gamma, beta, out, mean, rstd, eps, batch, channels,
                                                                  spatial);
}
