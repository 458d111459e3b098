// Mistake: after the last step the result is taken from the buffer of the step before.
// Says: (last step|step before|window|half of|each (group|block)|only the last 128|128 elements|128 before)
__global__ void scan(const float* x, float* out, float* sums, int64_t n) {
    __shared__ float buf[2][256];
    int t = threadIdx.x, in = 0;
    int64_t i = blockIdx.x * 256LL + t;
    buf[0][t] = i < n ? x[i] : 0.0f;
    __syncthreads();
    for (int step = 1; step < 256; step *= 2) {
        buf[1 - in][t] = t >= step ? buf[in][t] + buf[in][t - step] : buf[in][t];
        in = 1 - in;
        __syncthreads();
    }
    if (i < n) out[i] = buf[1 - in][t];
    if (t == 255) sums[blockIdx.x] = buf[in][255];
}
__global__ void add(float* out, const float* sums, int64_t n) {
    int64_t i = blockIdx.x * 256LL + threadIdx.x;
    float before = 0;
    for (int64_t b = 0; b < blockIdx.x; b++) before += sums[b];
    if (i < n) out[i] += before;
}
extern "C" void solve(const float* x, float* out, int64_t n) {
    if (!n) return;
    int64_t blocks = (n + 255) / 256;
    float* sums;
    cudaMalloc(&sums, blocks * sizeof(float));
    scan<<<blocks, 256>>>(x, out, sums, n);
    add<<<blocks, 256>>>(out, sums, n);
    cudaFree(sums);
}
