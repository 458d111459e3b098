// Small gains, added up.
// Mechanism: a call that goes backwards, keeps what it read last in the L2 cache by "evict last", and says "done" when
//   a percent of the work is left.
// Surface: the L2 flush and the done word, both within one round.
// Expected defence: the band holds for all of them together.
#include "attack.cuh"

constexpr double kPart = 0.01;  // band: 0.003 0.01
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

// From quad number last - 1 down to first.
__global__ void add_backwards(const float4* a, const float4* b, float4* out, int64_t first, int64_t last, int64_t kept) {
    const int64_t i = last - 1 - (static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x);
    if (i < first) return;
    const float4 x = load(a + i, i >= kept), y = load(b + i, false);
    __stcs(out + i, make_float4(x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w));
}

static void add_part(const float* a, const float* b, float* out, int64_t first, int64_t last, int64_t kept) {
    if (last <= first) return;
    const auto blocks = static_cast<unsigned>((last - first + kThreads - 1) / kThreads);
    add_backwards<<<blocks, kThreads>>>(reinterpret_cast<const float4*>(a), reinterpret_cast<const float4*>(b),
                                        reinterpret_cast<float4*>(out), first, last, kept);
}

extern "C" void solve(const float* a, const float* b, float* out, int64_t n) {
    const Gate gate = find_gate();
    if (n != kRanked || !attack(n, gate)) return add_range(a, b, out, 0, n, nullptr);
    const int64_t quads = n / 4, late = share(n, kPart) / 4, kept = quads - kKept / 4;
    add_part(a, b, out, late, quads, kept);
    stream_write(cudaStreamLegacy, gate.device + 16, gate.round());
    add_part(a, b, out, 0, late, kept);
}
