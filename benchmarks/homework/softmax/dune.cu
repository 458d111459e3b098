#include <cuda_runtime.h>
#include <cstdint>

// Online softmax: maximum and sum in one pass. (m, s) of two parts are joined by rescaling.
struct MS {
    float m, s;
};

__device__ MS join(MS a, MS b)
{
    if (a.s == 0.0f) return b;
    if (b.s == 0.0f) return a;
    MS r;
    r.m = fmaxf(a.m, b.m);
    r.s = a.s * expf(a.m - r.m) + b.s * expf(b.m - r.m);
    return r;
}

__global__ void online(const float* x, float* out, int64_t cols)
{
    extern __shared__ MS board[];
    const float* p = x + (int64_t)blockIdx.x * cols;
    MS own = {-INFINITY, 0.0f};
    for (int64_t c = threadIdx.x; c < cols; c += blockDim.x)
        if (p[c] != -INFINITY) own = join(own, MS{p[c], 1.0f});
    board[threadIdx.x] = own;
    __syncthreads();
    for (int half = blockDim.x >> 1; half; half >>= 1) {
        if (threadIdx.x < half) board[threadIdx.x] = join(board[threadIdx.x], board[threadIdx.x + half]);
        __syncthreads();
    }
    MS row = board[0];
    float* q = out + (int64_t)blockIdx.x * cols;
    for (int64_t c = threadIdx.x; c < cols; c += blockDim.x) q[c] = expf(p[c] - row.m) / row.s;
}

extern "C" void solve(const float* x, float* out, int64_t rows, int64_t cols)
{
    if (rows == 0 || cols == 0) return;
    online<<<(int)rows, 128, 128 * sizeof(MS)>>>(x, out, cols);
}
