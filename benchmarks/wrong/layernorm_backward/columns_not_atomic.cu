// Mistake: blocks add to dgamma and dbeta without atomics.
// Says: (atomic|race|several blocks|two blocks|another block)
__global__ void backward(const float* dy, const float* x, const float* gamma, const float* mean, const float* rstd, float* dx, float* dgamma, float* dbeta, int64_t cols) {
    __shared__ float p1[128], p2[128];
    int64_t r = blockIdx.x;
    int t = threadIdx.x;
    float a = 0, b = 0;
    for (int64_t c = t; c < cols; c += 128) {
        float w = dy[r * cols + c] * gamma[c], h = (x[r * cols + c] - mean[r]) * rstd[r];
        a += w;
        b += w * h;
    }
    p1[t] = a, p2[t] = b;
    __syncthreads();
    for (int step = 64; step; step /= 2) {
        if (t < step) p1[t] += p1[t + step], p2[t] += p2[t + step];
        __syncthreads();
    }
    for (int64_t c = t; c < cols; c += 128) {
        float d = dy[r * cols + c], h = (x[r * cols + c] - mean[r]) * rstd[r];
        dx[r * cols + c] = rstd[r] * (d * gamma[c] - p1[0] / cols - h * (p2[0] / cols));
        dgamma[c] += d * h; // HERE
        dbeta[c] += d; // HERE
    }
}
extern "C" void solve(const float* dy, const float* x, const float* gamma, const float* mean, const float* rstd, float* dx, float* dgamma, float* dbeta, int64_t rows, int64_t cols) {
    if (!cols) return;
    cudaMemsetAsync(dgamma, 0, cols * 4);
    cudaMemsetAsync(dbeta, 0, cols * 4);
    if (rows) backward<<<rows, 128>>>(dy, x, gamma, mean, rstd, dx, dgamma, dbeta, cols);
}
