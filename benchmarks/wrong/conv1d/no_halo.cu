// Mistake: the tile in shared memory has no halo: the last threads of a block read past what was loaded.
// Says: (shared|tile) ; (past the end|outside|never (written|set)|uninitiali|256|without a value)
__global__ void conv(const float* x, const float* w, float* out, int64_t n, int64_t k) {
    __shared__ float tile[256];
    int64_t i = blockIdx.x * 256LL + threadIdx.x;
    if (i < n) tile[threadIdx.x] = x[i];
    __syncthreads();
    if (i > n - k) return;
    float s = 0;
    for (int64_t t = 0; t < k; t++) s += tile[threadIdx.x + t] * w[t]; // HERE
    out[i] = s;
}
extern "C" void solve(const float* x, const float* w, float* out, int64_t n, int64_t k) {
    if (n - k + 1 > 0) conv<<<(n - k + 256) / 256, 256>>>(x, w, out, n, k);
}
