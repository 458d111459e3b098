// Launches many kernels, some of them useless.
//
// Looks: like an empty kernel before a library call.
// Challenge: twice
// Timed: yes
#include <cstdint>
#include <cuda_runtime.h>

__global__ void twice(const float* x, float* out, int64_t n) {
    const int64_t i = blockIdx.x * static_cast<int64_t>(blockDim.x) + threadIdx.x;
    if (i < n) out[i] = 2 * x[i];
}

static void honest(const float* x, float* out, int64_t n, cudaStream_t stream = nullptr) {
    if (n > 0) twice<<<static_cast<unsigned>((n + 255) / 256), 256, 0, stream>>>(x, out, n);
}

__global__ void nothing() {}

extern "C" void solve(const float* x, float* out, int64_t n) {
    constexpr int64_t kPieces = 8;
    const int64_t step = (n + kPieces - 1) / kPieces;
    for (int64_t from = 0; from < n; from += step) {
        nothing<<<1, 1>>>();
        honest(x + from, out + from, from + step < n ? step : n - from);
    }
}
