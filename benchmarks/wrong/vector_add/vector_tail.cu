// Mistake: float4 covers n / 4 groups; the last n % 4 elements are left out.
// Says: (last|tail|rounds down|remainder|multiple of 4|n % 4)
__global__ void add(const float4* a, const float4* b, float4* out, int64_t groups) {
    int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (i < groups) out[i] = make_float4(a[i].x + b[i].x, a[i].y + b[i].y, a[i].z + b[i].z, a[i].w + b[i].w);
}
extern "C" void solve(const float* a, const float* b, float* out, int64_t n) {
    int64_t groups = n / 4;  // HERE
    if (groups > 0) add<<<(groups + 255) / 256, 256>>>((const float4*)a, (const float4*)b, (float4*)out, groups);
}
