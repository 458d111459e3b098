#include <cuda_runtime.h>
#include <cstdint>

// Registers: up to 8 values per thread stay where they are, rows of more than 2048 take the slow way.
template <int PER>
__global__ void in_registers(const float* x, float* out, int cols)
{
    __shared__ float sh[8];
    float v[PER];
    const int64_t base = (int64_t)blockIdx.x * cols;
    float m = -INFINITY;
#pragma unroll
    for (int p = 0; p < PER; p++) {
        int c = p * 256 + threadIdx.x;
        v[p] = c < cols ? x[base + c] : -INFINITY;
        m = fmaxf(m, v[p]);
    }
    m = fmaxf(m, __shfl_xor_sync(0xffffffff, m, 1));
    m = fmaxf(m, __shfl_xor_sync(0xffffffff, m, 2));
    m = fmaxf(m, __shfl_xor_sync(0xffffffff, m, 4));
    m = fmaxf(m, __shfl_xor_sync(0xffffffff, m, 8));
    m = fmaxf(m, __shfl_xor_sync(0xffffffff, m, 16));
    sh[threadIdx.x >> 5] = m;
    __syncthreads();
#pragma unroll
    for (int w = 0; w < 8; w++) m = fmaxf(m, sh[w]);
    float s = 0;
#pragma unroll
    for (int p = 0; p < PER; p++) {
        if (p * 256 + threadIdx.x < cols) {
            v[p] = expf(v[p] - m);
            s += v[p];
        }
    }
    s += __shfl_xor_sync(0xffffffff, s, 1);
    s += __shfl_xor_sync(0xffffffff, s, 2);
    s += __shfl_xor_sync(0xffffffff, s, 4);
    s += __shfl_xor_sync(0xffffffff, s, 8);
    s += __shfl_xor_sync(0xffffffff, s, 16);
    __syncthreads();
    sh[threadIdx.x >> 5] = s;
    __syncthreads();
    s = ((sh[0] + sh[1]) + (sh[2] + sh[3])) + ((sh[4] + sh[5]) + (sh[6] + sh[7]));
#pragma unroll
    for (int p = 0; p < PER; p++)
        if (p * 256 + threadIdx.x < cols) out[base + p * 256 + threadIdx.x] = v[p] / s;
}

__global__ void slow(const float* x, float* out, int64_t cols)
{
    __shared__ float m_, s_;
    const int64_t base = blockIdx.x * cols;
    if (threadIdx.x == 0) {
        float m = -INFINITY, s = 0;
        for (int64_t c = 0; c < cols; c++) m = fmaxf(m, x[base + c]);
        float comp = 0;
        for (int64_t c = 0; c < cols; c++) {
            float y = expf(x[base + c] - m) - comp, t = s + y;
            comp = (t - s) - y;
            s = t;
        }
        m_ = m;
        s_ = s;
    }
    __syncthreads();
    for (int64_t c = threadIdx.x; c < cols; c += blockDim.x) out[base + c] = expf(x[base + c] - m_) / s_;
}

extern "C" void solve(const float* x, float* out, int64_t rows, int64_t cols)
{
    if (rows == 0 || cols == 0) return;
    if (cols <= 256) in_registers<1><<<rows, 256>>>(x, out, (int)cols);
    else if (cols <= 1024) in_registers<4><<<rows, 256>>>(x, out, (int)cols);
    else if (cols <= 2048) in_registers<8><<<rows, 256>>>(x, out, (int)cols);
    else slow<<<rows, 256>>>(x, out, cols);
}
