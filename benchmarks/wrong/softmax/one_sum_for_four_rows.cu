// Mistake: the four rows of a block share one sum in shared memory.
// Says: (race|atomic|shared|both write|order|another row|rows) ; (total|sum|writes|factor)
#include <cstdint>
__global__ void softmax(const float* x, float* out, int64_t rows, int64_t cols) {
    __shared__ float total;
    int64_t r = blockIdx.x * 4LL + threadIdx.y;
    if (threadIdx.x == 0 && threadIdx.y == 0) total = 0;
    __syncthreads();
    float top = -INFINITY, s = 0;
    if (r < rows) {
        for (int64_t c = 0; c < cols; c++) top = fmaxf(top, x[r * cols + c]);
        for (int64_t c = threadIdx.x; c < cols; c += 32) s += expf(x[r * cols + c] - top);
        atomicAdd(&total, s);
    }
    __syncthreads();
    if (r < rows)
        for (int64_t c = threadIdx.x; c < cols; c += 32) out[r * cols + c] = expf(x[r * cols + c] - top) / total;
}
extern "C" void solve(const float* x, float* out, int64_t rows, int64_t cols) {
    if (rows && cols) softmax<<<(rows + 3) / 4, dim3(32, 4)>>>(x, out, rows, cols);
}
