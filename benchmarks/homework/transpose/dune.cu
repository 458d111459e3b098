#include <cuda_runtime.h>
#include <cstdint>

// Writes are coalesced, reads are strided; the cache is meant to help with those.
__global__ void pull(float* dst, const float* src, int64_t dst_rows, int64_t dst_cols)
{
    for (int64_t row = blockIdx.x; row < dst_rows; row += gridDim.x)
        for (int64_t col = threadIdx.x; col < dst_cols; col += blockDim.x)
            dst[row * dst_cols + col] = __ldg(&src[col * dst_rows + row]);
}

extern "C" void solve(const float* x, float* out, int64_t rows, int64_t cols)
{
    if (rows > 0 && cols > 0)
        pull<<<cols < 4096 ? (int)cols : 4096, 128>>>(out, x, cols, rows);
}
