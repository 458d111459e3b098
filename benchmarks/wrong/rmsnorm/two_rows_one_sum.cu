// Mistake: the two rows of a block add their squares to one shared sum.
// Says: (row) ; (share|both|one sum|two|2|neighbour|together|groups?|other row|next)
#include <cstdint>
#include <cuda_runtime.h>
__global__ void rms(const float* x, const float* g, float* out, float eps, int64_t rows, int64_t cols) {
    __shared__ float total;
    int64_t r = blockIdx.x * 2LL + threadIdx.y;
    if (threadIdx.x == 0 && threadIdx.y == 0) total = 0;
    __syncthreads();
    float s = 0;
    if (r < rows)
        for (int64_t c = threadIdx.x; c < cols; c += 64) s += x[r * cols + c] * x[r * cols + c];
    atomicAdd(&total, s);
    __syncthreads();
    if (r < rows)
        for (int64_t c = threadIdx.x; c < cols; c += 64)
            out[r * cols + c] = x[r * cols + c] * rsqrtf(total / cols + eps) * g[c];
}
extern "C" void solve(const float* x, const float* gamma, float* out, float eps, int64_t rows, int64_t cols) {
    if (rows && cols) rms<<<(rows + 1) / 2, dim3(64, 2)>>>(x, gamma, out, eps, rows, cols);
}
