// Kernels of both GPUs wait for each other: right on real GPUs, refused on the emulated one.
__global__ void add(const float* mine, const float* other, float* out, int64_t n, unsigned* here, unsigned* there) {
    int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        atomicExch_system(there, 1u);
        while (atomicExch_system(here, 0u) == 0) {}
    }
    if (i < n) out[i] = mine[i] + other[i];
}

void solve(const float* const* x, float* const* out, int64_t n, int64_t gpus) {
    static unsigned* flags[2];
    if (n == 0) return;
    for (int gpu = 0; gpu < 2; gpu++) {
        cudaSetDevice(gpu);
        if (!flags[gpu]) {
            cudaMalloc(&flags[gpu], 4);
            cudaMemset(flags[gpu], 0, 4);
        }
    }
    for (int gpu = 0; gpu < 2; gpu++) {
        cudaSetDevice(gpu);
        add<<<(n + 255) / 256, 256>>>(x[gpu], x[1 - gpu], out[gpu], n, flags[gpu], flags[1 - gpu]);
    }
}
