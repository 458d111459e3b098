#include <cstdint>
#include <cuda_runtime.h>

// A warp per row, four rows per block, butterflies by shuffle.
constexpr int ROWS_PER_BLOCK = 4;

__device__ __forceinline__ float allMax(float v) {
    for (int o = 16; o; o >>= 1) v = fmaxf(v, __shfl_xor_sync(0xffffffff, v, o));
    return v;
}
__device__ __forceinline__ float allSum(float v) {
    for (int o = 16; o; o >>= 1) v += __shfl_xor_sync(0xffffffff, v, o);
    return v;
}

__global__ void warpSoftmax(const float* __restrict__ x, float* __restrict__ out, int64_t rows, int64_t cols) {
    const int64_t row = int64_t(blockIdx.x) * ROWS_PER_BLOCK + threadIdx.y;
    if (row >= rows) return;
    x += row * cols;
    out += row * cols;
    float top = __int_as_float(0xff800000);
    for (int64_t c = threadIdx.x; c < cols; c += 32) top = fmaxf(top, x[c]);
    top = allMax(top);
    float norm = 0.f;
    for (int64_t c = threadIdx.x; c < cols; c += 32) norm += expf(x[c] - top);
    norm = allSum(norm);
    for (int64_t c = threadIdx.x; c < cols; c += 32) out[c] = expf(x[c] - top) / norm;
}

extern "C" void solve(const float* x, float* out, int64_t rows, int64_t cols) {
    if (!(rows && cols)) return;
    warpSoftmax<<<unsigned((rows + ROWS_PER_BLOCK - 1) / ROWS_PER_BLOCK), dim3(32, ROWS_PER_BLOCK)>>>(x, out, rows, cols);
}
