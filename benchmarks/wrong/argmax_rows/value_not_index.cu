// Mistake: the maximum itself is stored, not its index.
// Says: (value|maximum).*(index|place|instead)
__global__ void argmax(const float* x, int64_t* out, int64_t rows, int64_t cols) {
    int64_t r = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (r >= rows) return;
    float best = -INFINITY;
    for (int64_t c = 0; c < cols; c++) best = fmaxf(best, x[r * cols + c]);
    out[r] = (int64_t)best;
}
extern "C" void solve(const float* x, int64_t* out, int64_t rows, int64_t cols) {
    if (rows) argmax<<<(rows + 127) / 128, 128>>>(x, out, rows, cols);
}
