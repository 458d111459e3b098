// Mistake: the exponentials are not divided by their sum.
// Says: (sum|divi|normalis|factor|times the right)
__global__ void softmax(const float* x, float* out, int64_t rows, int64_t cols) {
    int64_t r = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (r >= rows) return;
    float m = -INFINITY;
    for (int64_t c = 0; c < cols; c++) m = fmaxf(m, x[r * cols + c]);
    for (int64_t c = 0; c < cols; c++) out[r * cols + c] = expf(x[r * cols + c] - m);
}
extern "C" void solve(const float* x, float* out, int64_t rows, int64_t cols) {
    if (rows && cols) softmax<<<(rows + 127) / 128, 128>>>(x, out, rows, cols);
}
