// GPU 0 does all of it: it reads the other's numbers and writes the other's sums, one element a thread.
#include <cstdint>
#include <cuda_runtime.h>

__global__ void add(const float* own, const float* other, float* out, float* others_out, int64_t n) {
    const int64_t i = blockIdx.x * static_cast<int64_t>(blockDim.x) + threadIdx.x;
    if (i < n) out[i] = others_out[i] = own[i] + other[i];
}

extern "C" void solve(const float* const* x, float* const* out, int64_t n, int64_t gpus) {
    if (n) add<<<static_cast<unsigned>((n + 255) / 256), 256>>>(x[0], x[1], out[0], out[1], n);
}
