#include <cuda_runtime.h>
#include <cstdint>

// Compensated (Kahan) sums per thread. Infinite terms would make NaN of the correction, hence the test.
struct Kahan {
    float sum = 0.0f, err = 0.0f;
    __device__ void add(float v) {
        float y = v - err;
        float t = sum + y;
        float e = (t - sum) - y;
        err = isfinite(e) ? e : 0.0f;
        sum = t;
    }
};

__global__ void kahan_kernel(const float* x, float* part, int64_t n) {
    Kahan own;
    int64_t per = (n + gridDim.x - 1) / gridDim.x;
    int64_t begin = per * blockIdx.x;
    int64_t end = begin + per < n ? begin + per : n;
    for (int64_t p = begin + threadIdx.x; p < end; p += blockDim.x) own.add(x[p]);

    __shared__ float table[128];
    table[threadIdx.x] = own.sum;
    __syncthreads();
    if (threadIdx.x < 32) {
        Kahan warp;
        for (int q = threadIdx.x; q < 128; q += 32) warp.add(table[q]);
        table[threadIdx.x] = warp.sum;
        __syncwarp();
        if (threadIdx.x == 0) {
            Kahan end_sum;
            for (int q = 0; q < 32; q++) end_sum.add(table[q]);
            part[blockIdx.x] = end_sum.sum;
        }
    }
}

extern "C" void solve(const float* x, float* out, int64_t n) {
    constexpr int BLOCKS = 132;
    static float* scratch = nullptr;
    if (!scratch) cudaMalloc(&scratch, BLOCKS * sizeof(float));
    kahan_kernel<<<BLOCKS, 128>>>(x, scratch, n);
    kahan_kernel<<<1, 128>>>(scratch, out, BLOCKS);
}
