// Mistake: dx lacks the term h * mean(w * h).
// Says: dx ; (lacks|without|left out|missing|not subtracted|leaves out)
__global__ void rows_(const float* dy, const float* x, const float* gamma, const float* mean, const float* rstd, float* dx, int64_t cols) {
    __shared__ float part[128];
    int64_t r = blockIdx.x;
    int t = threadIdx.x;
    float s = 0;
    for (int64_t c = t; c < cols; c += 128) s += dy[r * cols + c] * gamma[c];
    part[t] = s;
    __syncthreads();
    for (int step = 64; step; step /= 2) {
        if (t < step) part[t] += part[t + step];
        __syncthreads();
    }
    float m = part[0] / cols;
    for (int64_t c = t; c < cols; c += 128) dx[r * cols + c] = rstd[r] * (dy[r * cols + c] * gamma[c] - m);
}
__global__ void columns(const float* dy, const float* x, const float* mean, const float* rstd, float* dgamma, float* dbeta, int64_t rows, int64_t cols) {
    int64_t c = blockIdx.x * 128LL + threadIdx.x;
    if (c >= cols) return;
    float g = 0, b = 0;
    for (int64_t r = 0; r < rows; r++) {
        g += dy[r * cols + c] * ((x[r * cols + c] - mean[r]) * rstd[r]);
        b += dy[r * cols + c];
    }
    dgamma[c] = g;
    dbeta[c] = b;
}
extern "C" void solve(const float* dy, const float* x, const float* gamma, const float* mean, const float* rstd, float* dx, float* dgamma, float* dbeta, int64_t rows, int64_t cols) {
    if (!cols) return;
    if (rows) rows_<<<rows, 128>>>(dy, x, gamma, mean, rstd, dx, cols);
    columns<<<(cols + 127) / 128, 128>>>(dy, x, mean, rstd, dgamma, dbeta, rows, cols);
}
