// Mistake: GPU 1's part runs in a stream that nothing waits for, slowly, after solve has returned.
__global__ void add(const float* mine, const float* other, float* out, int64_t n, int64_t cycles) {
    int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    long long begin = clock64();
    while (clock64() - begin < cycles) {}
    if (i < n) out[i] = mine[i] + other[i];
}

void solve(const float* const* x, float* const* out, int64_t n, int64_t gpus) {
    static cudaStream_t apart;
    if (n == 0) return;
    add<<<(n + 255) / 256, 256>>>(x[0], x[1], out[0], n, 0);
    cudaSetDevice(1);
    if (!apart) cudaStreamCreateWithFlags(&apart, cudaStreamNonBlocking);
    add<<<(n + 255) / 256, 256, 0, apart>>>(x[1], x[0], out[1], n, 2000000);
}
