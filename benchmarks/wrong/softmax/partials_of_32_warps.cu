// Mistake: 8 warps leave their maxima, and the first warp reads 32 of them: 24 were never written.
// Says: (shared|part) ; (uninitiali|never (written|set)|before .*written|without a value|no value|past the end)
__global__ void softmax(const float* x, float* out, int64_t cols) {
    __shared__ float part[32];
    const float* row = x + blockIdx.x * cols;
    int t = threadIdx.x, lane = t % 32, warp = t / 32;
    float top = -INFINITY;
    for (int64_t c = t; c < cols; c += 256) top = fmaxf(top, row[c]);
    for (int s = 16; s; s /= 2) top = fmaxf(top, __shfl_xor_sync(~0u, top, s));
    if (lane == 0) part[warp] = top;
    __syncthreads();
    top = part[lane]; // HERE
    for (int s = 16; s; s /= 2) top = fmaxf(top, __shfl_xor_sync(~0u, top, s));
    __syncthreads();
    float sum = 0;
    for (int64_t c = t; c < cols; c += 256) sum += expf(row[c] - top);
    for (int s = 16; s; s /= 2) sum += __shfl_xor_sync(~0u, sum, s);
    if (lane == 0) part[warp] = sum;
    __syncthreads();
    sum = lane < 8 ? part[lane] : 0.0f;
    for (int s = 16; s; s /= 2) sum += __shfl_xor_sync(~0u, sum, s);
    for (int64_t c = t; c < cols; c += 256) out[blockIdx.x * cols + c] = expf(row[c] - top) / sum;
}
extern "C" void solve(const float* x, float* out, int64_t rows, int64_t cols) {
    if (rows && cols) softmax<<<rows, 256>>>(x, out, cols);
}
