// Mistake: the mean of squares is not rooted.
// Says: root|sqrt|squared|factor
__global__ void rmsnorm(const float* x, const float* gamma, float* out, float eps, int64_t rows, int64_t cols) {
    int64_t r = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (r >= rows) return;
    double s = 0;
    for (int64_t c = 0; c < cols; c++) s += (double)x[r * cols + c] * x[r * cols + c];
    float ms = (float)(s / cols + eps);
    for (int64_t c = 0; c < cols; c++) out[r * cols + c] = x[r * cols + c] / ms * gamma[c];
}
extern "C" void solve(const float* x, const float* gamma, float* out, float eps, int64_t rows, int64_t cols) {
    if (rows && cols) rmsnorm<<<(rows + 127) / 128, 128>>>(x, gamma, out, eps, rows, cols);
}
