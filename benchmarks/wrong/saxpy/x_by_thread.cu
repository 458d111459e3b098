// Mistake: x is indexed by threadIdx.x alone, so each block uses the first 256 elements of x.
// Says: \bx\b ; (threadIdx|blockIdx|first 256|repeat|each block|every block)
__global__ void saxpy(const float* x, float* y, float alpha, int64_t n) {
    int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (i < n) y[i] = fmaf(alpha, x[threadIdx.x], y[i]);
}
extern "C" void solve(const float* x, float* y, float alpha, int64_t n) {
    if (n) saxpy<<<(n + 255) / 256, 256>>>(x, y, alpha, n);
}
