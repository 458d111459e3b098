// Mistake: each tile's product replaces the sum of the tiles before.
// Says: (only the last tile|assigned|not added)
#include <cuda_runtime.h>
#include <cstdint>

__global__ void mm(const float* a, const float* b, float* c, int64_t m, int64_t n, int64_t k) {
    __shared__ float sa[16][16], sb[16][16];
    int tx = threadIdx.x, ty = threadIdx.y;
    int64_t row = (int64_t)blockIdx.y * 16 + ty, col = (int64_t)blockIdx.x * 16 + tx;
    float total = 0.0f;
    for (int64_t p = 0; p < k; p += 16) {
        sa[ty][tx] = row < m && p + tx < k ? a[row * k + p + tx] : 0.0f;
        sb[ty][tx] = col < n && p + ty < k ? b[(p + ty) * n + col] : 0.0f;
        __syncthreads();
        float part = 0.0f;
        for (int q = 0; q < 16; q++) part += sa[ty][q] * sb[q][tx];
        total = part;
        __syncthreads();
    }
    if (row < m && col < n) c[row * n + col] = total;
}

extern "C" void solve(const float* a, const float* b, float* out, int64_t m, int64_t n, int64_t k) {
    if (m && n) mm<<<dim3((n + 15) / 16, (m + 15) / 16), dim3(16, 16)>>>(a, b, out, m, n, k);
}
