// Mistake: shares elements among threads and stores the last sum of each, which may be a part of a group.
#include <cstdint>
#include <cuda_runtime.h>

constexpr int kShare = 16;

__global__ void add_up(const float* values, const int64_t* offsets, float* out, int64_t n, int64_t groups) {
    const int64_t begin = (static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x) * kShare;
    if (begin >= n) return;
    const int64_t end = begin + kShare < n ? begin + kShare : n;
    int64_t low = 0, high = groups;  // the first group that ends behind `begin`
    while (low < high) {
        const int64_t middle = (low + high) / 2;
        if (offsets[middle + 1] > begin) high = middle;
        else low = middle + 1;
    }
    float sum = 0.0f;
    int64_t group = low;
    for (int64_t i = begin; i < end; ++i) {
        if (i == offsets[group + 1]) {
            atomicAdd(out + group, sum);
            sum = 0.0f;
            while (i == offsets[group + 1]) ++group;
        }
        sum += values[i];
    }
    out[group] = sum;
}

extern "C" void solve(const float* values, const int64_t* offsets, float* out, int64_t n, int64_t groups) {
    if (groups > 0) cudaMemsetAsync(out, 0, groups * sizeof(float), 0);
    const int64_t threads = (n + kShare - 1) / kShare;
    if (n > 0) add_up<<<static_cast<unsigned>((threads + 255) / 256), 256>>>(values, offsets, out, n, groups);
}
