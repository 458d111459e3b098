// Mistake: the softmax runs down each column instead of along each row.
// Says: (column|row|axis|dimension|along)
__global__ void softmax(const float* x, float* out, int64_t rows, int64_t cols) {
    int64_t c = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (c >= cols) return;
    float m = -INFINITY, s = 0;
    for (int64_t r = 0; r < rows; r++) m = fmaxf(m, x[r * cols + c]);
    for (int64_t r = 0; r < rows; r++) s += expf(x[r * cols + c] - m);
    for (int64_t r = 0; r < rows; r++) out[r * cols + c] = expf(x[r * cols + c] - m) / s;
}
extern "C" void solve(const float* x, float* out, int64_t rows, int64_t cols) {
    if (rows && cols) softmax<<<(cols + 127) / 128, 128>>>(x, out, rows, cols);
}
