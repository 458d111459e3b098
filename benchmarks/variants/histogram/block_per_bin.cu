// A block for each bin, which reads all values: no atomic, and bins times the traffic.
#include <cstdint>
#include <cuda_runtime.h>

__global__ void count(const int32_t* x, int32_t* out, int64_t n) {
    int32_t found = 0;
    const int bin = blockIdx.x;
    for (int64_t i = threadIdx.x; i < n; i += 1024) found += x[i] == bin;
    found = __reduce_add_sync(0xffffffffu, found);
    if (threadIdx.x % 32 == 0) atomicAdd(&out[bin], found);
}

extern "C" void solve(const int32_t* x, int32_t* out, int64_t n, int64_t bins) {
    if (bins == 0) return;
    cudaMemsetAsync(out, 0, bins * sizeof(int32_t), 0);
    if (n == 0) return;
    count<<<static_cast<unsigned>(bins), 1024>>>(x, out, n);
}
