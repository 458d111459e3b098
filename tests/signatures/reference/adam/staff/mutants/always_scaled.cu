// Mistake: reads scale even if there is none.
#include <cstdint>
#include <cuda_fp16.h>

__global__ void adam(int64_t n, float* p, const float* g, float* m, float lr, double beta1, float* v, double beta2,
                     float eps, float decay, double first, double second, const float* scale) {
    const int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (i >= n) return;
    const float mean = beta1 * m[i] + (1 - beta1) * g[i];
    const float square = beta2 * v[i] + (1 - beta2) * g[i] * g[i];
    const float rate = lr * scale[i];
    const float update = (float)(mean / first) / (sqrtf(square / second) + eps) + decay * p[i];
    p[i] -= rate * update;
    m[i] = mean;
    v[i] = square;
}

extern "C" void solve(int64_t n, float* p, const float* g, float* m, float lr, double beta1, float* v, double beta2,
                      float eps, __half weight_decay, int step, const float* scale) {
    if (n == 0) return;
    const double first = 1 - pow(beta1, step), second = 1 - pow(beta2, step);
    adam<<<(n + 255) / 256, 256>>>(n, p, g, m, lr, beta1, v, beta2, eps, __half2float(weight_decay), first, second,
                                   scale);
}
