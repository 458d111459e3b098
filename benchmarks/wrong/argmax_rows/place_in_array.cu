// Mistake: the index counts from the beginning of x, not of its row.
// Says: (index|place|out) ; (beginning|start|row|i \* cols|whole array|flat|modulo)
#include <cstdint>
#include <cuda_runtime.h>
__global__ void argmax(const float* x, int64_t* out, int64_t rows, int64_t cols) {
    int64_t r = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (r >= rows) return;
    int64_t best = r * cols;
    for (int64_t i = r * cols + 1; i < (r + 1) * cols; i++)
        if (x[i] > x[best] || (isnan(x[i]) && !isnan(x[best]))) best = i;
    out[r] = best;
}
extern "C" void solve(const float* x, int64_t* out, int64_t rows, int64_t cols) {
    if (rows) argmax<<<(rows + 63) / 64, 64>>>(x, out, rows, cols);
}
