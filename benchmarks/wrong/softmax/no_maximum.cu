// Mistake: no maximum is subtracted before the exponential.
// Says: exponential ; (subtract) ; maximum
#include <cuda_runtime.h>
#include <cstdint>

__global__ void softmax(const float* x, float* out, int64_t rows, int64_t cols) {
    int64_t r = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    double sum = 0.0;
    for (int64_t c = 0; c < cols; c++) {
        out[r * cols + c] = __expf(x[r * cols + c]); // HERE
        sum += out[r * cols + c];
    }
    for (int64_t c = 0; c < cols; c++) out[r * cols + c] /= sum;
}

extern "C" void solve(const float* x, float* out, int64_t rows, int64_t cols) {
    if (rows > 0) softmax<<<(rows + 31) / 32, 32>>>(x, out, rows, cols);
}
