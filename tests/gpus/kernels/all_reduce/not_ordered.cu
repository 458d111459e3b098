// Mistake: GPU 1 reads the sum while GPU 0 may still compute it.
__global__ void add(const float* mine, const float* other, float* out, int64_t n) {
    int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (i < n) out[i] = mine[i] + other[i];
}
__global__ void fetch(const float* from, float* to, int64_t n) {
    int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (i < n) to[i] = from[i];
}

void solve(const float* const* x, float* const* out, int64_t n, int64_t gpus) {
    if (n == 0) return;
    add<<<(n + 255) / 256, 256>>>(x[0], x[1], out[0], n);
    cudaSetDevice(1);
    fetch<<<(n + 255) / 256, 256>>>(out[0], out[1], n);
}
