// Mistake: no barrier between reading the block's maximum and reusing the array for the sum.
// Says: __syncthreads|barrier|order
__global__ void softmax(const float* x, float* out, int64_t cols) {
    __shared__ float s[256];
    const float* row = x + blockIdx.x * cols;
    float m = -INFINITY, t = 0;
    for (int64_t c = threadIdx.x; c < cols; c += 256) m = fmaxf(m, row[c]);
    s[threadIdx.x] = m;
    __syncthreads();
    for (int d = 128; d; d /= 2) {
        if (threadIdx.x < d) s[threadIdx.x] = fmaxf(s[threadIdx.x], s[threadIdx.x + d]);
        __syncthreads();
    }
    m = s[0];  // HERE
    for (int64_t c = threadIdx.x; c < cols; c += 256) t += expf(row[c] - m);
    s[threadIdx.x] = t;  // HERE
    __syncthreads();
    for (int d = 128; d; d /= 2) {
        if (threadIdx.x < d) s[threadIdx.x] += s[threadIdx.x + d];
        __syncthreads();
    }
    for (int64_t c = threadIdx.x; c < cols; c += 256) out[blockIdx.x * cols + c] = expf(row[c] - m) / s[0];
}
extern "C" void solve(const float* x, float* out, int64_t rows, int64_t cols) {
    if (rows && cols) softmax<<<rows, 256>>>(x, out, cols);
}
