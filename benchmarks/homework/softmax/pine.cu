#include <cstdint>
#include <cuda_runtime.h>

// Long rows are cut into pieces of 4096: pass one leaves (max, sum) of each piece, pass two joins them and divides.
#define PIECE 4096

__global__ void pass_one(const float* x, float2* stats, int64_t cols, int pieces) {
    int64_t row = blockIdx.y;
    int64_t lo = (int64_t)blockIdx.x * PIECE;
    int64_t hi = lo + PIECE < cols ? lo + PIECE : cols;
    const float* p = x + row * cols;
    __shared__ float sm[256];
    float m = -INFINITY;
    for (int64_t i = lo + threadIdx.x; i < hi; i += 256) m = fmaxf(m, p[i]);
    sm[threadIdx.x] = m;
    for (int k = 128; k; k >>= 1) {
        __syncthreads();
        if (threadIdx.x < k) sm[threadIdx.x] = fmaxf(sm[threadIdx.x], sm[threadIdx.x + k]);
    }
    __syncthreads();
    m = sm[0];
    __syncthreads();
    float s = 0.f;
    if (m != -INFINITY)
        for (int64_t i = lo + threadIdx.x; i < hi; i += 256) s += expf(p[i] - m);
    else
        for (int64_t i = lo + threadIdx.x; i < hi; i += 256) s += isnan(p[i]) ? p[i] : 0.f;
    sm[threadIdx.x] = s;
    for (int k = 128; k; k >>= 1) {
        __syncthreads();
        if (threadIdx.x < k) sm[threadIdx.x] += sm[threadIdx.x + k];
    }
    if (threadIdx.x == 0) stats[row * pieces + blockIdx.x] = make_float2(m, sm[0]);
}

__global__ void pass_two(const float* x, const float2* stats, float* out, int64_t cols, int pieces) {
    int64_t row = blockIdx.y;
    float m = -INFINITY, s = 0.f;
    for (int k = 0; k < pieces; k++) m = fmaxf(m, stats[row * pieces + k].x);
    for (int k = 0; k < pieces; k++) {
        float2 st = stats[row * pieces + k];
        s += st.x == -INFINITY ? st.y : st.y * expf(st.x - m);
    }
    int64_t end = (int64_t)(blockIdx.x + 1) * PIECE;
    for (int64_t i = (int64_t)blockIdx.x * PIECE + threadIdx.x; i < cols && i < end; i += 256)
        out[row * cols + i] = expf(x[row * cols + i] - m) / s;
}

extern "C" void solve(const float* x, float* out, int64_t rows, int64_t cols) {
    if (rows == 0 || cols == 0) return;
    int pieces = (int)((cols + PIECE - 1) / PIECE);
    float2* stats;
    cudaMalloc(&stats, rows * pieces * sizeof(float2));
    for (int64_t r = 0; r < rows; r += 65535) {  // gridDim.y
        unsigned many = (unsigned)(rows - r < 65535 ? rows - r : 65535);
        pass_one<<<dim3(pieces, many), 256>>>(x + r * cols, stats, cols, pieces);
        pass_two<<<dim3(pieces, many), 256>>>(x + r * cols, stats, out + r * cols, cols, pieces);
    }
    cudaFree(stats);
}
