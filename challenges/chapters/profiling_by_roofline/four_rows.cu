#include <cstdint>
#include <cuda_runtime.h>

// Each thread computes four results, one below the other: rows i to i + 3 of column j.
__global__ void matmul(const float* a, const float* b, float* out, int64_t m, int64_t n, int64_t k) {
    int64_t i = (int64_t(blockIdx.y) * blockDim.y + threadIdx.y) * 4;
    int64_t j = int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
    if (j >= n) return;
    float sum[4] = {0, 0, 0, 0};
    for (int64_t p = 0; p < k; p++) {
        float right = b[p * n + j];
        for (int r = 0; r < 4; r++) {
            // Add to sum[r] what this step of the loop contributes. Row i + r may be past the end.
        }
    }
    for (int r = 0; r < 4; r++) {
        if (i + r < m) out[(i + r) * n + j] = sum[r];
    }
}

extern "C" void solve(const float* a, const float* b, float* out, int64_t m, int64_t n, int64_t k) {
    if (m == 0 || n == 0) return;
    dim3 threads(32, 8);
    dim3 blocks(static_cast<unsigned>((n + 31) / 32), static_cast<unsigned>((m + 31) / 32));
    matmul<<<blocks, threads>>>(a, b, out, m, n, k);
}
