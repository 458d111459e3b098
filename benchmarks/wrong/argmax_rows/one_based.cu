// Mistake: indices count from 1.
// Says: (1 greater|from 1|one greater|count from 0)
__global__ void argmax(const float* x, int64_t* out, int64_t rows, int64_t cols) {
    int64_t r = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (r >= rows) return;
    float best = -INFINITY;
    int64_t at = 0;
    for (int64_t c = 0; c < cols; c++) {
        float v = x[r * cols + c];
        if (v != v) { at = c; break; }
        if (v > best) { best = v; at = c; }
    }
    out[r] = at + 1;
}
extern "C" void solve(const float* x, int64_t* out, int64_t rows, int64_t cols) {
    if (rows) argmax<<<(rows + 127) / 128, 128>>>(x, out, rows, cols);
}
