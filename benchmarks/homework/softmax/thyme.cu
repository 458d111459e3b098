#include <cstdint>
#include <cuda_runtime.h>

// log-sum-exp in pairs (m, s) with float2, one warp per row, halves joined by shuffles. Output is exp(x - m - log s).
__device__ float2 merge(float2 a, float2 b) {
    // .x is the maximum, .y the sum of exponentials relative to it
    if (b.x > a.x) {
        float2 t = a;
        a = b;
        b = t;
    }
    if (b.y != 0.f) a.y += b.y * expf(b.x - a.x);
    return a;
}

__global__ void __launch_bounds__(128) lse_rows(const float* x, float* out, int64_t rows, int64_t cols) {
    const int64_t warp = (blockIdx.x * 128ll + threadIdx.x) >> 5;
    const unsigned lane = threadIdx.x & 31u;
    if (warp >= rows) return;
    float2 st = make_float2(-INFINITY, 0.f);
    float poison = 0.f;
    for (int64_t c = lane; c < cols; c += 32) {
        const float v = x[warp * cols + c];
        poison += 0.f * (v == -INFINITY ? 0.f : v);  // NaN for NaN and for +inf, else 0
        if (v > -INFINITY) st = merge(st, make_float2(v, 1.f));
    }
    for (int step = 16; step > 0; step >>= 1) {
        st = merge(st, make_float2(__shfl_xor_sync(~0u, st.x, step), __shfl_xor_sync(~0u, st.y, step)));
        poison += __shfl_xor_sync(~0u, poison, step);
    }
    const float log_s = logf(st.y) + poison;
    for (int64_t c = lane; c < cols; c += 32) out[warp * cols + c] = expf(x[warp * cols + c] - st.x - log_s);
}

extern "C" void solve(const float* x, float* out, int64_t rows, int64_t cols) {
    if (rows == 0 || cols == 0) return;
    lse_rows<<<(rows * 32 + 127) / 128, 128>>>(x, out, rows, cols);
}
