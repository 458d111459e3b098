// Mistake: takes count for an int32 and writes its lower half only; the upper half keeps what was there.
#include <cstdint>
#include <cuda_runtime.h>

// One warp walks through everything: slow, and meant to be simple.
__global__ void compact(const float* x, float* out, int* count, int64_t n) {
    int64_t kept = 0;
    for (int64_t start = 0; start < n; start += 32) {
        const int64_t i = start + threadIdx.x;
        const bool keep = i < n && x[i] > 0;
        const unsigned lanes = __ballot_sync(0xffffffffu, keep);
        if (keep) out[kept + __popc(lanes & ((1u << threadIdx.x) - 1))] = x[i];
        kept += __popc(lanes);
    }
    if (threadIdx.x == 0) *count = static_cast<int>(kept);
}

extern "C" void solve(const float* x, float* out, int64_t* count, int64_t n) {
    compact<<<1, 32>>>(x, out, reinterpret_cast<int*>(count), n);
}
