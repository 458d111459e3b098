// Mistake: 64 blocks leave partial sums, and the second kernel adds 32 of them.
// Says: (block|partial|32|64|half) ; (left out|leaves|not added|only|never (read|added))
__device__ float partial[64];
__global__ void first(const float* a, const float* b, int64_t n) {
    __shared__ float part[256];
    float s = 0;
    for (int64_t i = blockIdx.x * 256LL + threadIdx.x; i < n; i += 64 * 256) s += a[i] * b[i];
    part[threadIdx.x] = s;
    __syncthreads();
    for (int step = 128; step > 0; step /= 2) {
        if (threadIdx.x < step) part[threadIdx.x] += part[threadIdx.x + step];
        __syncthreads();
    }
    if (threadIdx.x == 0) partial[blockIdx.x] = part[0];
}
__global__ void second(float* out) {
    float s = partial[threadIdx.x];
    for (int step = 16; step > 0; step /= 2) s += __shfl_down_sync(0xffffffffu, s, step);
    if (threadIdx.x == 0) out[0] = s;
}
extern "C" void solve(const float* a, const float* b, float* out, int64_t n) {
    first<<<64, 256>>>(a, b, n);
    second<<<1, 32>>>(out);
}
