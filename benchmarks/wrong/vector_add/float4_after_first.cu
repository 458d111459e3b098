// Mistake: the first element is peeled off and float4 is read from a + 1, which is not aligned to 16 bytes.
// Says: (misalign|aligned|multiple of 16) ; 16
__global__ void add(const float* a, const float* b, float* out, int64_t n) {
    int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (i == 0) out[0] = a[0] + b[0];
    int64_t first = 1 + 4 * i;
    if (first + 4 <= n) {
        float4 u = *reinterpret_cast<const float4*>(a + first); // HERE
        float4 v = *reinterpret_cast<const float4*>(b + first);
        *reinterpret_cast<float4*>(out + first) = make_float4(u.x + v.x, u.y + v.y, u.z + v.z, u.w + v.w);
    } else {
        for (; first < n; first++) out[first] = a[first] + b[first];
    }
}
extern "C" void solve(const float* a, const float* b, float* out, int64_t n) {
    if (n) add<<<(n + 1023) / 1024, 256>>>(a, b, out, n);
}
