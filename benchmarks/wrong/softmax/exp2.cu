// Mistake: exp2f is used for expf.
// Says: exp2|base 2|power of 2
__global__ void softmax(const float* x, float* out, int64_t rows, int64_t cols) {
    int64_t r = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (r >= rows) return;
    float m = -INFINITY, s = 0;
    for (int64_t c = 0; c < cols; c++) m = fmaxf(m, x[r * cols + c]);
    for (int64_t c = 0; c < cols; c++) s += exp2f(x[r * cols + c] - m);
    for (int64_t c = 0; c < cols; c++) out[r * cols + c] = exp2f(x[r * cols + c] - m) / s;
}
extern "C" void solve(const float* x, float* out, int64_t rows, int64_t cols) {
    if (rows && cols) softmax<<<(rows + 127) / 128, 128>>>(x, out, rows, cols);
}
