// Mistake: rounds the number of blocks down: what is left over takes no step.
#include <cmath>
#include <cstdint>
#include <cuda_runtime.h>

__global__ void adamw(float* p, float* m, float* v, const float* grad, float lr, float beta1, float beta2, float eps,
                      float weight_decay, float bias1, float bias2, int64_t n) {
    const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i >= n) return;
    m[i] = beta1 * m[i] + (1 - beta1) * grad[i];
    v[i] = beta2 * v[i] + (1 - beta2) * grad[i] * grad[i];
    p[i] = p[i] * (1 - lr * weight_decay) - lr / bias1 * m[i] / (sqrtf(v[i] / bias2) + eps);
}

extern "C" void solve(float* p, float* m, float* v, const float* grad, float lr, float beta1, float beta2, float eps,
                      float weight_decay, float bias1, float bias2, int64_t n) {
    if (n == 0) return;
    const unsigned blocks = static_cast<unsigned>((n / 256 > 0 ? n / 256 : 1));
    adamw<<<blocks, 256>>>(p, m, v, grad, lr, beta1, beta2, eps, weight_decay, bias1, bias2, n);
}
