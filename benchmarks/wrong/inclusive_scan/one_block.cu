// Mistake: one block of 1024 threads is launched, so elements from 1024 on are never computed.
// Says: (1,?024|one block|only|never written)
__global__ void scan(const float* x, float* out, int64_t n) {
    __shared__ float s[1024];
    int i = threadIdx.x;
    s[i] = i < n ? x[i] : 0;
    __syncthreads();
    for (int d = 1; d < 1024; d *= 2) {
        float v = i >= d ? s[i - d] : 0;
        __syncthreads();
        s[i] += v;
        __syncthreads();
    }
    if (i < n) out[i] = s[i];
}
extern "C" void solve(const float* x, float* out, int64_t n) {
    if (n) scan<<<1, 1024>>>(x, out, n);  // HERE
}
