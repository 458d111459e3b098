// Mistake: 64 blocks of 256 threads and no grid-stride loop: only the first 16,384 elements are computed.
// Says: 16,?384|64 blocks ; (grid|loop|never written|covers|launch)
__global__ void relu(const float* x, float* out, int64_t n) {
    int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (i < n) {
        float v = x[i];
        out[i] = v < 0.0f ? 0.0f : v;
    }
}
extern "C" void solve(const float* x, float* out, int64_t n) {
    if (n) relu<<<64, 256>>>(x, out, n);
}
