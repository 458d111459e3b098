// Mistake: out is not set to 0 before the atomics.
// Says: (old value|not cleared|set it to 0|never written|uses a value)
__global__ void sum(const float* x, float* out, int64_t n) {
    int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(out, x[i]);
}
extern "C" void solve(const float* x, float* out, int64_t n) {
    if (n) sum<<<(n + 255) / 256, 256>>>(x, out, n);
}
