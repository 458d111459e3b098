// Mistake: the loop over tiles of k runs k / 16 times, so the last, partial tile is left out.
// Says: (\bk\b) ; (last|partial|rest|left out|rounds down|from .* on)
#include <cuda_runtime.h>
#include <cstdint>
#define TILE 16

__global__ void matmul(const float* a, const float* b, float* c, int m, int n, int k) {
    __shared__ float as[TILE][TILE], bs[TILE][TILE];
    int row = blockIdx.y * TILE + threadIdx.y, col = blockIdx.x * TILE + threadIdx.x;
    float acc = 0.0f;
    for (int t = 0; t < k / TILE; t++) {
        as[threadIdx.y][threadIdx.x] = row < m ? a[row * k + t * TILE + threadIdx.x] : 0.0f;
        bs[threadIdx.y][threadIdx.x] = col < n ? b[(t * TILE + threadIdx.y) * n + col] : 0.0f;
        __syncthreads();
        for (int i = 0; i < TILE; i++) acc += as[threadIdx.y][i] * bs[i][threadIdx.x];
        __syncthreads();
    }
    if (row < m && col < n) c[row * n + col] = acc;
}

extern "C" void solve(const float* a, const float* b, float* out, int64_t m, int64_t n, int64_t k) {
    if (m == 0 || n == 0) return;
    matmul<<<dim3((n + TILE - 1) / TILE, (m + TILE - 1) / TILE), dim3(TILE, TILE)>>>(a, b, out, m, n, k);
}
