#include <cstdint>
#include <cuda_runtime.h>

// An atomic addition made by hand, as in the programming guide's chapter about atomics, but by whole blocks only.
__device__ void addTo(float* address, float val) {
    int* asInt = (int*)address;
    int old = *asInt, assumed;
    do {
        assumed = old;
        old = atomicCAS(asInt, assumed, __float_as_int(val + __int_as_float(assumed)));
    } while (assumed != old);
}

__global__ void zero(float* out) { out[threadIdx.x] = 0.f; }

__global__ void kern(const float* x, float* out, int64_t n) {
    __shared__ float sm[64];
    int tid = threadIdx.x;
    sm[tid] = 0;
    for (int64_t i = blockIdx.x * 64 + tid; i < n; i += 64 * gridDim.x) sm[tid] += x[i];
    __syncthreads();
    if (tid < 8) {
        float eight = 0;
        for (int j = 0; j < 8; j++) eight += sm[tid * 8 + j];
        sm[tid * 8] = eight;
    }
    __syncthreads();
    if (tid == 0) {
        float block = 0;
        for (int j = 0; j < 64; j += 8) block += sm[j];
        addTo(out, block);
    }
}

extern "C" void solve(const float* x, float* out, int64_t n) {
    zero<<<1, 1>>>(out);
    kern<<<48, 64>>>(x, out, n);
}
