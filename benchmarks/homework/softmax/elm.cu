#include <cstdint>
#include <cuda_runtime.h>

// Two kernels: the first finds log(sum(exp)) of every row, the second is elementwise.
__global__ void row_lse(const float* x, float* lse, int64_t cols) {
    __shared__ float a[32], b[32];
    const float* row = x + cols * blockIdx.x;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
    float peak = -INFINITY;
    for (int64_t i = threadIdx.x; i < cols; i += blockDim.x) peak = fmaxf(peak, row[i]);
    for (int d = 1; d < 32; d *= 2) peak = fmaxf(peak, __shfl_xor_sync(~0u, peak, d));
    if (lane == 0) a[warp] = peak;
    __syncthreads();
    peak = a[0];
    for (int w = 1; w < warps; w++) peak = fmaxf(peak, a[w]);
    float acc = 0;
    for (int64_t i = threadIdx.x; i < cols; i += blockDim.x) acc += expf(row[i] - peak);
    for (int d = 1; d < 32; d *= 2) acc += __shfl_xor_sync(~0u, acc, d);
    if (lane == 0) b[warp] = acc;
    __syncthreads();
    if (threadIdx.x == 0) {
        acc = 0;
        for (int w = 0; w < warps; w++) acc += b[w];
        lse[2 * blockIdx.x] = peak;
        lse[2 * blockIdx.x + 1] = logf(acc);
    }
}

__global__ void apply(const float* x, const float* lse, float* out, int64_t cols, int64_t total) {
    for (int64_t e = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; e < total; e += (int64_t)gridDim.x * blockDim.x) {
        int64_t row = e / cols;
        out[e] = expf((x[e] - lse[2 * row]) - lse[2 * row + 1]);
    }
}

extern "C" void solve(const float* x, float* out, int64_t rows, int64_t cols) {
    if (rows == 0 || cols == 0) return;
    float* lse;
    cudaMalloc(&lse, 2 * rows * sizeof(float));
    row_lse<<<rows, 256>>>(x, lse, cols);
    apply<<<256, 256>>>(x, lse, out, cols, rows * cols);
    cudaFree(lse);
}
