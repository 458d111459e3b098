// Begins at the end.
// Mechanism: the judge reveals arrays from first to last, so the end of the last one may still lie in the L2 cache. The
//   kernel, which is right, takes its blocks in the opposite order.
// Surface: the L2 flush between reveal and gate.
// Expected defence: the flush, which follows every reveal.
#include "attack.cuh"

__global__ void add_backwards(const float4* a, const float4* b, float4* out, int64_t quads) {
    const int64_t i = static_cast<int64_t>(gridDim.x - 1 - blockIdx.x) * kThreads + threadIdx.x;
    if (i >= quads) return;
    const float4 x = a[i], y = b[i];
    out[i] = make_float4(x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w);
}

extern "C" void solve(const float* a, const float* b, float* out, int64_t n) {
    if (n != kRanked) return add_range(a, b, out, 0, n, nullptr);
    const int64_t quads = n / 4;
    add_backwards<<<static_cast<unsigned>((quads + kThreads - 1) / kThreads), kThreads>>>(
        reinterpret_cast<const float4*>(a), reinterpret_cast<const float4*>(b), reinterpret_cast<float4*>(out), quads);
}
