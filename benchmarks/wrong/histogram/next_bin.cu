// Mistake: each value counts in the bin after its own.
// Says: (1 place|one place|next|too late|off by one|past the end|1 too)
#include <cstdint>
__global__ void count(const int32_t* x, int32_t* out, int64_t n, int64_t bins) {
    int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (i < n && x[i] >= 0 && x[i] < bins - 1) atomicAdd(&out[x[i] + 1], 1);
}
extern "C" void solve(const int32_t* x, int32_t* out, int64_t n, int64_t bins) {
    if (!bins) return;
    cudaMemsetAsync(out, 0, bins * sizeof(int32_t));
    if (n) count<<<(n + 255) / 256, 256>>>(x, out, n, bins);
}
