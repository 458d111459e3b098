// Mistake: only the first 32 columns are looked at.
// Says: (first|only) ; (32|columns)
#include <cstdint>
#include <cuda_runtime.h>
__global__ void f(const float* x, int64_t* out, int64_t cols) {
    const float* row = x + blockIdx.x * cols;
    float v = threadIdx.x < cols ? row[threadIdx.x] : -INFINITY;
    int at = threadIdx.x;
    for (int d = 16; d; d /= 2) {
        float w = __shfl_down_sync(~0u, v, d);
        int b = __shfl_down_sync(~0u, at, d);
        if (w > v) { v = w; at = b; }
    }
    if (threadIdx.x == 0) out[blockIdx.x] = at;
}
extern "C" void solve(const float* x, int64_t* out, int64_t rows, int64_t cols) {
    if (rows) f<<<rows, 32>>>(x, out, cols);
}
