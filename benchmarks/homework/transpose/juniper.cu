#include <cuda_runtime.h>
#include <stdint.h>

// A warp transposes 32 x 32 through registers: five rounds of exchanging halves, quarters, ... by shuffles.
__global__ void by_shuffles(const float* x, float* y, int64_t R, int64_t C)
{
    const int lane = threadIdx.x;
    int64_t r = 32 * (int64_t)blockIdx.y, c = 32 * (int64_t)blockIdx.x;
    float a[32];
#pragma unroll
    for (int k = 0; k < 32; k++) {
        bool in = r + k < R && c + lane < C;
        a[k] = in ? x[(r + k) * C + c + lane] : 0.0f;
    }
#pragma unroll
    for (int h = 16; h >= 1; h /= 2) {
        bool upper = lane & h;
#pragma unroll
        for (int k = 0; k < 32; k++) {
            if (k & h) continue;
            float send = upper ? a[k] : a[k + h];
            float got = __shfl_xor_sync(0xffffffff, send, h);
            if (upper) a[k] = got; else a[k + h] = got;
        }
    }
    // now a[k] of lane l is element (l, k) of the tile
#pragma unroll
    for (int k = 0; k < 32; k++)
        if (c + k < C && r + lane < R)
            y[(c + k) * R + r + lane] = a[k];
}

extern "C" void solve(const float* x, float* out, int64_t rows, int64_t cols)
{
    int64_t gx = (cols + 31) / 32, gy = (rows + 31) / 32;
    if (gx > 0 && gy > 0) by_shuffles<<<dim3(gx, gy), 32>>>(x, out, rows, cols);
}
