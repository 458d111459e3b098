// Mistake: NaN is not taken as the maximum.
// Says: NaN
__global__ void argmax(const float* x, int64_t* out, int64_t rows, int64_t cols) {
    int64_t r = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (r >= rows) return;
    float best = -INFINITY;
    int64_t at = 0;
    for (int64_t c = 0; c < cols; c++)
        if (x[r * cols + c] > best) { best = x[r * cols + c]; at = c; }
    out[r] = at;
}
extern "C" void solve(const float* x, int64_t* out, int64_t rows, int64_t cols) {
    if (rows) argmax<<<(rows + 127) / 128, 128>>>(x, out, rows, cols);
}
