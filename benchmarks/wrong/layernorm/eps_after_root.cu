// Mistake: eps is added to the standard deviation, not to the variance under the root.
// Says: eps ; (root|sqrt)
__global__ void layernorm(const float* x, const float* gamma, const float* beta, float* out, float eps, int64_t cols) {
    __shared__ float part[256];
    const float* row = x + blockIdx.x * cols;
    int t = threadIdx.x;
    float s = 0;
    for (int64_t c = t; c < cols; c += 256) s += row[c];
    part[t] = s;
    __syncthreads();
    for (int step = 128; step; step /= 2) {
        if (t < step) part[t] += part[t + step];
        __syncthreads();
    }
    float mean = part[0] / cols;
    __syncthreads();
    s = 0;
    for (int64_t c = t; c < cols; c += 256) s += (row[c] - mean) * (row[c] - mean);
    part[t] = s;
    __syncthreads();
    for (int step = 128; step; step /= 2) {
        if (t < step) part[t] += part[t + step];
        __syncthreads();
    }
    float deviation = sqrtf(part[0] / cols) + eps;
    for (int64_t c = t; c < cols; c += 256) out[blockIdx.x * cols + c] = (row[c] - mean) / deviation * gamma[c] + beta[c];
}
extern "C" void solve(const float* x, const float* gamma, const float* beta, float* out, float eps, int64_t rows, int64_t cols) {
    if (rows && cols) layernorm<<<rows, 256>>>(x, gamma, beta, out, eps, cols);
}
