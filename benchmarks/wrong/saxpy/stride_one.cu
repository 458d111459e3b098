// Mistake: the grid-stride loop steps by the block's size, not the grid's, so elements are updated several times.
// Says: (several times|more than once|twice|again|gridDim|grid.s|every block|race|another|both)
__global__ void saxpy(const float* x, float* y, float alpha, int64_t n) {
    for (int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; i < n; i += blockDim.x)  // HERE
        y[i] = alpha * x[i] + y[i];  // HERE
}
extern "C" void solve(const float* x, float* y, float alpha, int64_t n) {
    if (n > 0) saxpy<<<(n + 255) / 256, 256>>>(x, y, alpha, n);
}
