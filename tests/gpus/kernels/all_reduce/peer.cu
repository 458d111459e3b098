// Each GPU reads the other's numbers through peer access.
__global__ void add(const float* mine, const float* other, float* out, int64_t n) {
    int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (i < n) out[i] = mine[i] + other[i];
}

void solve(const float* const* x, float* const* out, int64_t n, int64_t gpus) {
    if (n == 0) return;
    for (int gpu = 0; gpu < gpus; gpu++) {
        cudaSetDevice(gpu);
        add<<<(n + 255) / 256, 256>>>(x[gpu], x[1 - gpu], out[gpu], n);
    }
}
