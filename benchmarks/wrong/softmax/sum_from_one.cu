// Mistake: the sum of the exponentials begins at 1 instead of 0.
// Says: (sum|total|denominator|exp) ; (1 too|begins|starts|initial|plus 1|\+ 1|by 1|1 more|1 greater)
#include <cstdint>
#include <cuda_runtime.h>
__global__ void softmax(const float* x, float* out, int64_t rows, int64_t cols) {
    int64_t r = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (r >= rows) return;
    float top = -INFINITY, sum = 1;
    for (int64_t c = 0; c < cols; c++) top = fmaxf(top, x[r * cols + c]);
    for (int64_t c = 0; c < cols; c++) sum += expf(x[r * cols + c] - top);
    for (int64_t c = 0; c < cols; c++) out[r * cols + c] = expf(x[r * cols + c] - top) / sum;
}
extern "C" void solve(const float* x, float* out, int64_t rows, int64_t cols) {
    if (rows) softmax<<<(rows + 31) / 32, 32>>>(x, out, rows, cols);
}
