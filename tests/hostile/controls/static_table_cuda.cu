// Keeps a table in constant memory.
//
// Looks: like stored answers: a table on the device, and static pointers on the host.
// Challenge: twice
// Timed: yes
#include <cstdint>
#include <cuda_runtime.h>

__constant__ float factors[4] = {2, 2, 2, 2};
static float* scratch = nullptr;

__global__ void scaled(const float* x, float* out, int64_t n) {
    const int64_t i = blockIdx.x * static_cast<int64_t>(blockDim.x) + threadIdx.x;
    if (i < n) out[i] = factors[i % 4] * x[i];
}

extern "C" void solve(const float* x, float* out, int64_t n) {
    if (scratch == nullptr) cudaMalloc(&scratch, 1 << 20);
    if (n > 0) scaled<<<static_cast<unsigned>((n + 255) / 256), 256>>>(x, out, n);
}
