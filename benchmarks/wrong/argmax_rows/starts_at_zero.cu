// Mistake: the maximum starts at 0, so rows of negative numbers keep index 0.
// Says: (negative|starts? (at|with) 0|below 0|-inf|INFINITY)
__global__ void argmax(const float* x, int64_t* out, int64_t rows, int64_t cols) {
    int64_t r = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (r >= rows) return;
    float best = 0;  // HERE
    int64_t at = 0;
    for (int64_t c = 0; c < cols; c++) {
        float v = x[r * cols + c];
        if (v != v) { at = c; break; }
        if (v > best) { best = v; at = c; }
    }
    out[r] = at;
}
extern "C" void solve(const float* x, int64_t* out, int64_t rows, int64_t cols) {
    if (rows) argmax<<<(rows + 127) / 128, 128>>>(x, out, rows, cols);
}
