// Mistake: GPU 1 never gets its result.
__global__ void add(const float* mine, const float* other, float* out, int64_t n) {
    int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (i < n) out[i] = mine[i] + other[i];
}

void solve(const float* const* x, float* const* out, int64_t n, int64_t gpus) {
    if (n) add<<<(n + 255) / 256, 256>>>(x[0], x[1], out[0], n);
}
