// Small gains, added up.
// Mechanism: a call that goes backwards, keeps what it read last in the L2 cache by "evict last", says "done" when a part
//   of the work is left, and finds a workspace that was cleaned ahead: its blocks draw their tiles from a counter, which
//   must be zero when the call begins. Cleaning it belongs to the call; here it is done for the next call behind this
//   one's "done", or by the host part of the call on a stream of its own, while the gate is still closed.
// Ways: 0 cleans within the call and says "done" in time, so the others are to be held against it, too; 1 and 2 clean
//   behind a "done" that is early by 0.3 % and 1 %; 3 cleans ahead of the gate, 0.3 % early; 4 does so and is in time.
// Surface: the L2 flush and the done word, both within one round, and all that lies between two rounds.
// Expected defence: the band holds for all of them together. What is cleaned ahead of the gate costs nothing, which is
//   true of all that does not depend on a call's inputs; it saves no more than a launch.
#include "attack.cuh"

constexpr int kWay = 1;  // band: 0 1 2 3 4
constexpr double kLate[] = {0.0, 0.003, 0.01, 0.003, 0.0};
constexpr int64_t kKept = int64_t{8} << 20;  // elements: 32 MB
constexpr int kQuads = 4;                    // of a thread in each tile
constexpr int64_t kTile = kQuads * kThreads;
constexpr unsigned kBlocksOnEach = 8;

__device__ unsigned next_tile;

__global__ void clean() { next_tile = 0; }

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

// From quad number last - 1 down to first, tile by tile; a block draws its next tile while it works on one.
__global__ void add_tiles(const float4* a, const float4* b, float4* out, int64_t first, int64_t last, int64_t kept) {
    __shared__ unsigned drawn[2];
    const auto tiles = static_cast<unsigned>((last - first + kTile - 1) / kTile);
    if (threadIdx.x == 0) drawn[0] = atomicAdd(&next_tile, 1);
    __syncthreads();
    for (int turn = 0; drawn[turn] < tiles; turn ^= 1) {
        const int64_t top = last - 1 - drawn[turn] * kTile - threadIdx.x;
        if (threadIdx.x == 0) drawn[turn ^ 1] = atomicAdd(&next_tile, 1);
        float4 x[kQuads], y[kQuads];
#pragma unroll
        for (int k = 0; k < kQuads; ++k) {
            const int64_t i = top - k * kThreads;
            if (i >= first) x[k] = load(a + i, i >= kept), y[k] = load(b + i, false);
        }
#pragma unroll
        for (int k = 0; k < kQuads; ++k) {
            const int64_t i = top - k * kThreads;
            if (i >= first)
                __stcs(out + i, make_float4(x[k].x + y[k].x, x[k].y + y[k].y, x[k].z + y[k].z, x[k].w + y[k].w));
        }
        __syncthreads();
    }
}

// The rest, without a workspace.
__global__ void add_rest(const float4* a, const float4* b, float4* out, int64_t quads) {
    const int64_t i = quads - 1 - (static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x);
    if (i < 0) return;
    const float4 x = load(a + i, false), y = load(b + i, false);
    __stcs(out + i, make_float4(x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w));
}

static unsigned blocks() {
    static const unsigned found = [] {
        int multiprocessors = 0;
        cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0);
        return static_cast<unsigned>(multiprocessors) * kBlocksOnEach;
    }();
    return found;
}

extern "C" void solve(const float* a, const float* b, float* out, int64_t n) {
    const Gate gate = find_gate();
    blocks();
    if (n != kRanked || !attack(n, gate)) return add_range(a, b, out, 0, n, nullptr);
    const auto* left = reinterpret_cast<const float4*>(a);
    const auto* right = reinterpret_cast<const float4*>(b);
    auto* sum = reinterpret_cast<float4*>(out);
    const int64_t quads = n / 4, late = share(n, kLate[kWay]) / 4;
    if (kWay == 0) clean<<<1, 1>>>();
    if (kWay >= 3) {
        clean<<<1, 1, 0, side()>>>();
        cudaStreamSynchronize(side());
    }
    add_tiles<<<blocks(), kThreads>>>(left, right, sum, late, quads, quads - kKept / 4);
    if (late) {
        stream_write(cudaStreamLegacy, gate.device + 16, gate.round());
        add_rest<<<static_cast<unsigned>((late + kThreads - 1) / kThreads), kThreads>>>(left, right, sum, late);
    }
    if (kWay == 1 || kWay == 2) clean<<<1, 1>>>();
}
