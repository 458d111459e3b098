// Mistake on a GPU: counts in float32, which beyond 2^24 does not hold every whole number.
#include <cstdint>
#include <cuda_runtime.h>

// One block walks through everything: slow, and meant to be simple.
__global__ void compact(const float* x, float* out, int64_t* count, int64_t n) {
    __shared__ unsigned warps[32];
    float kept = 0.0f;
    for (int64_t start = 0; start < n; start += 1024) {
        const int64_t i = start + threadIdx.x;
        const bool keep = i < n && x[i] > 0;
        const unsigned lanes = __ballot_sync(0xffffffffu, keep);
        const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
        if (lane == 0) warps[warp] = __popc(lanes);
        __syncthreads();
        unsigned ahead = 0, all = 0;
        for (int other = 0; other < 32; ++other) {
            if (other < warp) ahead += warps[other];
            all += warps[other];
        }
        const int64_t place = static_cast<int64_t>(kept) + ahead + __popc(lanes & ((1u << lane) - 1));
        if (keep) out[place] = x[i];
        kept += static_cast<float>(all);
        __syncthreads();
    }
    if (threadIdx.x == 0) *count = static_cast<int64_t>(kept);
}

extern "C" void solve(const float* x, float* out, int64_t* count, int64_t n) {
    compact<<<1, 1024>>>(x, out, count, n);
}
