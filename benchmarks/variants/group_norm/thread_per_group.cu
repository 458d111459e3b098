// A thread for each group: the accesses of a warp are a group apart.
#include <cstdint>
#include <cuda_runtime.h>

// A float32 that sums more of them, one by one, loses too much.
constexpr int64_t kTogether = 256;

__global__ void group_norm(const float* x, const float* weight, const float* bias, float* out, float eps, int64_t batch,
                           int64_t groups, int64_t of_group, int64_t spatial) {
    const int64_t number = static_cast<int64_t>(blockIdx.x) * 32 + threadIdx.x;
    if (number >= batch * groups) return;
    const int64_t count = of_group * spatial, first = number % groups * of_group;
    const float* group = x + number * count;
    float sum = 0.0f, squares = 0.0f;
    for (int64_t begin = 0; begin < count; begin += kTogether) {
        float part = 0.0f;
        for (int64_t i = begin; i < min(begin + kTogether, count); ++i) part += group[i];
        sum += part;
    }
    const float mean = sum / count;
    for (int64_t begin = 0; begin < count; begin += kTogether) {
        float part = 0.0f;
        for (int64_t i = begin; i < min(begin + kTogether, count); ++i) part += (group[i] - mean) * (group[i] - mean);
        squares += part;
    }
    const float deviation = sqrtf(squares / count + eps);
    for (int64_t i = 0; i < count; ++i) {
        const int64_t channel = first + i / spatial;
        out[number * count + i] = (group[i] - mean) / deviation * weight[channel] + bias[channel];
    }
}

extern "C" void solve(const float* x, const float* weight, const float* bias, float* out, float eps, int64_t batch,
                      int64_t channels, int64_t spatial, int64_t groups) {
    if (batch && channels && spatial)
        group_norm<<<static_cast<unsigned>((batch * groups + 31) / 32), 32>>>(x, weight, bias, out, eps, batch, groups,
                                                                            channels / groups, spatial);
}
