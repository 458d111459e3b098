// Mistake: gamma and beta are exchanged in the launch.
// Says: gamma and beta|exchanged|order
__global__ void layernorm(const float* x, const float* beta, const float* gamma, float* out, float eps, int64_t rows, int64_t cols) {
    int64_t r = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (r >= rows) return;
    double mean = 0, var = 0;
    for (int64_t c = 0; c < cols; c++) mean += x[r * cols + c];
    mean /= cols;
    for (int64_t c = 0; c < cols; c++) var += (x[r * cols + c] - mean) * (x[r * cols + c] - mean);
    var /= cols;
    for (int64_t c = 0; c < cols; c++) out[r * cols + c] = (x[r * cols + c] - mean) / sqrt(var + eps) * gamma[c] + beta[c];
}
extern "C" void solve(const float* x, const float* gamma, const float* beta, float* out, float eps, int64_t rows, int64_t cols) {
    if (rows && cols) layernorm<<<(rows + 127) / 128, 128>>>(x, gamma, beta, out, eps, rows, cols);
}
