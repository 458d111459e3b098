// Mistake: the reduced sum reaches thread 0 only; the other threads scale by what they hold themselves.
// Says: (thread 0|lane 0|element 0|other threads|every thread|each thread|shuffle) ; (only|right|own|broadcast|shared|part)
__global__ void rmsnorm(const float* x, const float* gamma, float* out, float eps, int64_t cols) {
    __shared__ float part[8];
    const float* row = x + blockIdx.x * cols;
    int t = threadIdx.x;
    float s = 0;
    for (int64_t c = t; c < cols; c += 256) s += row[c] * row[c];
    for (int step = 16; step; step /= 2) s += __shfl_down_sync(~0u, s, step);
    if (t % 32 == 0) part[t / 32] = s;
    __syncthreads();
    if (t == 0) {
        s = 0;
        for (int w = 0; w < 8; w++) s += part[w];
    }
    float inverse = rsqrtf(s / cols + eps);
    for (int64_t c = t; c < cols; c += 256) out[blockIdx.x * cols + c] = row[c] * inverse * gamma[c];
}
extern "C" void solve(const float* x, const float* gamma, float* out, float eps, int64_t rows, int64_t cols) {
    if (rows && cols) rmsnorm<<<rows, 256>>>(x, gamma, out, eps, cols);
}
