// Mistake: one block sums its first 256 elements; there is no loop over the rest.
// Says: (first 256|256|one block|loop)
__global__ void sum(const float* x, float* out, int64_t n) {
    __shared__ float s[256];
    s[threadIdx.x] = threadIdx.x < n ? x[threadIdx.x] : 0;
    __syncthreads();
    for (int d = 128; d; d /= 2) {
        if (threadIdx.x < d) s[threadIdx.x] += s[threadIdx.x + d];
        __syncthreads();
    }
    if (threadIdx.x == 0) *out = s[0];
}
extern "C" void solve(const float* x, float* out, int64_t n) {
    sum<<<1, 256>>>(x, out, n);
}
