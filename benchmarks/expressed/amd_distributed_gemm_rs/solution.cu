#include <cuda_bf16.h>

// One thread for each result, which is a sum over both GPUs' numbers. x and w begin at this GPU's first row of x.
__global__ void product(const __nv_bfloat16* x0, const __nv_bfloat16* w0, const __nv_bfloat16* bias0,
                        const __nv_bfloat16* x1, const __nv_bfloat16* w1, const __nv_bfloat16* bias1,
                        __nv_bfloat16* out, int64_t m, int64_t n, int64_t k) {
    int64_t place = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (place >= m * n) return;
    int64_t row = place / n, column = place % n;
    float sum = __bfloat162float(bias0[column]) + __bfloat162float(bias1[column]);
    for (int64_t i = 0; i < k; i++) {
        sum += __bfloat162float(x0[row * k + i]) * __bfloat162float(w0[column * k + i]);
        sum += __bfloat162float(x1[row * k + i]) * __bfloat162float(w1[column * k + i]);
    }
    out[place] = __float2bfloat16(sum);
}

extern "C" void solve(const __nv_bfloat16* const* x, const __nv_bfloat16* const* w, const __nv_bfloat16* const* bias,
                      __nv_bfloat16* const* out, int64_t m, int64_t n, int64_t k, int64_t gpus) {
    if (m == 0 || n == 0) return;
    for (int gpu = 0; gpu < gpus; gpu++) {
        cudaSetDevice(gpu);
        int64_t first = gpu * m * k;
        product<<<(m * n + 127) / 128, 128>>>(x[0] + first, w[0], bias[0], x[1] + first, w[1], bias[1], out[gpu], m, n, k);
    }
}
