// Mistake: the variance is divided by the number of elements less one.
// Says: variance ; - 1
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

__global__ void group_norm(const float* x, const float* weight, const float* bias, float* out, float eps,
                           int64_t groups, int64_t of_group, int64_t spatial) {
    const int64_t count = of_group * spatial, first = blockIdx.x % groups * of_group;
    const float* group = x + blockIdx.x * count;
    float* result = out + blockIdx.x * count;
    float sum = 0.0f, squares = 0.0f;
    for (int64_t i = threadIdx.x; i < count; i += kThreads) sum += group[i];
    const float mean = block_sum(sum) / count;
    for (int64_t i = threadIdx.x; i < count; i += kThreads) squares += (group[i] - mean) * (group[i] - mean);
    const float rstd = rsqrtf(block_sum(squares) / (count - 1) + eps);
    for (int64_t i = threadIdx.x; i < count; i += kThreads) {
        const int64_t channel = first + i / spatial;
        result[i] = (group[i] - mean) * rstd * weight[channel] + bias[channel];
    }
}

extern "C" void solve(const float* x, const float* weight, const float* bias, float* out, float eps, int64_t batch,
                      int64_t channels, int64_t spatial, int64_t groups) {
    if (batch && channels && spatial)
        group_norm<<<static_cast<unsigned>(batch * groups), kThreads>>>(x, weight, bias, out, eps, groups,
                                                                       channels / groups, spatial);
}
