// Mistake: >= keeps the last of equal maxima, not the first.
// Says: (tie|equal) ; (last|first)
#include <cuda_runtime.h>
#include <cmath>
#include <cstdint>

__global__ void argmax(const float* x, int64_t* out, int64_t rows, int64_t cols) {
    int64_t r = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    const float* row = x + r * cols;
    int64_t best = 0;
    for (int64_t c = 1; c < cols; c++) {
        if (isnan(row[best])) break;
        if (row[c] >= row[best] || isnan(row[c])) best = c;
    }
    out[r] = best;
}

extern "C" void solve(const float* x, int64_t* out, int64_t rows, int64_t cols) {
    if (rows > 0) argmax<<<(rows + 63) / 64, 64>>>(x, out, rows, cols);
}
