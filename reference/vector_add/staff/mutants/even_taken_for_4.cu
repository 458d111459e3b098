// Mistake: goes by groups of four wherever n is even, and leaves out the last two of n = 4 k + 2.
#include <cstdint>
__global__ void four(const float4* a, const float4* b, float4* out, int64_t n4) {
    int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (i < n4) out[i] = make_float4(a[i].x + b[i].x, a[i].y + b[i].y, a[i].z + b[i].z, a[i].w + b[i].w);
}
__global__ void one(const float* a, const float* b, float* out, int64_t n) {
    int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (i < n) out[i] = a[i] + b[i];
}
extern "C" void solve(const float* a, const float* b, float* out, int64_t n) {
    if (n == 0) return;
    if (n % 2 == 0) four<<<(n / 4 + 255) / 256, 256>>>((const float4*)a, (const float4*)b, (float4*)out, n / 4);
    else one<<<(n + 255) / 256, 256>>>(a, b, out, n);
}
