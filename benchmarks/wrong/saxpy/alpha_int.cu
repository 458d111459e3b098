// Mistake: alpha is passed as an int, so its fraction is lost.
// Says: (alpha|fraction|int|whole)
__global__ void saxpy(const float* x, float* y, int alpha, int64_t n) {
    int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (i < n) y[i] = alpha * x[i] + y[i];
}
extern "C" void solve(const float* x, float* y, float alpha, int64_t n) {
    if (n) saxpy<<<(n + 255) / 256, 256>>>(x, y, alpha, n);
}
