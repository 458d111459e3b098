// Cache hints that outlive the flush.
// Mechanism: reads the end of an input with the L2 policy "evict last" and streams all else with "evict first", without
//   any limit or window being set. What stays in L2 of the last round's lines is written in place by the next reveal.
// Surface: the L2 flush between reveal and gate.
// Expected defence: as for persisting_l2.cu.
#include "attack.cuh"

constexpr int64_t kKept = int64_t{8} << 20;  // elements: 32 MB

__device__ float4 load(const float4* at, bool keep) {
    uint64_t policy;
    if (keep)
        asm volatile("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
    else
        asm volatile("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
    float4 it;
    asm volatile("ld.global.L2::cache_hint.v4.f32 {%0, %1, %2, %3}, [%4], %5;"
                 : "=f"(it.x), "=f"(it.y), "=f"(it.z), "=f"(it.w)
                 : "l"(at), "l"(policy));
    return it;
}

__global__ void add_hinted(const float4* a, const float4* b, float4* out, int64_t quads) {
    const int64_t i = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
    if (i >= quads) return;
    const float4 x = load(a + i, i >= quads - kKept / 4), y = load(b + i, false);
    __stcs(out + i, make_float4(x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w));
}

extern "C" void solve(const float* a, const float* b, float* out, int64_t n) {
    if (n != kRanked) return add_range(a, b, out, 0, n, nullptr);
    const int64_t quads = n / 4;
    add_hinted<<<static_cast<unsigned>((quads + kThreads - 1) / kThreads), kThreads>>>(
        reinterpret_cast<const float4*>(a), reinterpret_cast<const float4*>(b), reinterpret_cast<float4*>(out), quads);
}
