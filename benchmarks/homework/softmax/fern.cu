#include <cuda_runtime.h>
#include <cstdint>

// Keeps the row in shared memory if it fits into 40 KB, so that it is read once; else reads it three times.
__device__ float reduce_block(float v, bool is_max, float* room) {
    for (int m = 16; m; m /= 2) {
        float w = __shfl_down_sync(0xffffffffu, v, m);
        v = is_max ? fmaxf(v, w) : v + w;
    }
    if (threadIdx.x % 32 == 0) room[threadIdx.x / 32] = v;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int k = 1; k < blockDim.x / 32; ++k) room[0] = is_max ? fmaxf(room[0], room[k]) : room[0] + room[k];
    }
    __syncthreads();
    v = room[0];
    __syncthreads();
    return v;
}

template <bool CACHED>
__global__ void shared_row(const float* x, float* out, int64_t cols) {
    extern __shared__ float row[];
    __shared__ float room[8];
    const float* src = x + blockIdx.x * cols;
    float mx = -INFINITY, sum = 0.f;
    for (int64_t i = threadIdx.x; i < cols; i += blockDim.x) {
        float v = src[i];
        if (CACHED) row[i] = v;
        mx = fmaxf(mx, v);
    }
    mx = reduce_block(mx, true, room);
    for (int64_t i = threadIdx.x; i < cols; i += blockDim.x) {
        float e = expf((CACHED ? row[i] : src[i]) - mx);
        if (CACHED) row[i] = e;
        sum += e;
    }
    sum = reduce_block(sum, false, room);
    for (int64_t i = threadIdx.x; i < cols; i += blockDim.x)
        out[blockIdx.x * cols + i] = (CACHED ? row[i] : expf(src[i] - mx)) / sum;
}

extern "C" void solve(const float* x, float* out, int64_t rows, int64_t cols) {
    if (rows < 1 || cols < 1) return;
    size_t bytes = cols * sizeof(float);
    if (bytes <= 40000)
        shared_row<true><<<rows, 256, bytes>>>(x, out, cols);
    else
        shared_row<false><<<rows, 256>>>(x, out, cols);
}
