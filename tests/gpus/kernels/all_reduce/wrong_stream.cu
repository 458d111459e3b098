// Mistake: a stream of GPU 0 gets a launch while GPU 1 is set.
__global__ void add(const float* mine, const float* other, float* out, int64_t n) {
    int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (i < n) out[i] = mine[i] + other[i];
}

void solve(const float* const* x, float* const* out, int64_t n, int64_t gpus) {
    cudaStream_t stream;
    if (n == 0) return;
    cudaStreamCreate(&stream);
    for (int gpu = 0; gpu < gpus; gpu++) {
        cudaSetDevice(gpu);
        add<<<(n + 255) / 256, 256, 0, stream>>>(x[gpu], x[1 - gpu], out[gpu], n);
    }
    cudaStreamSynchronize(stream);
}
