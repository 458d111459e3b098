// A launch for each weight, which adds to all results.
#include <cstdint>
#include <cuda_runtime.h>

__global__ void add(const float* x, const float* w, float* out, int64_t results, int64_t t) {
    const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < results) out[i] += x[i + t] * w[t];
}

extern "C" void solve(const float* x, const float* w, float* out, int64_t n, int64_t k) {
    const int64_t results = n - k + 1;
    if (results <= 0) return;
    cudaMemsetAsync(out, 0, results * sizeof(float), 0);
    for (int64_t t = 0; t < k; ++t) add<<<static_cast<unsigned>((results + 255) / 256), 256>>>(x, w, out, results, t);
}
