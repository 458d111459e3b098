// One step of AdamW: one thread per four elements. Seven accesses of 16 bytes per thread and one launch, against the
// dozen launches that separate operations take.
#include <cmath>
#include <cstdint>
#include <cuda_runtime.h>

constexpr int kThreads = 256;
constexpr int kOwn = 4;  // elements per thread: 16-byte accesses

// What does not depend on the element.
struct Step {
    float decay;         // 1 - lr * weight_decay
    float beta1, rest1;  // rest = 1 - beta
    float beta2, rest2;
    float inverse_root;  // 1 / sqrt(bias2)
    float eps;
    float size;  // lr / bias1
};

__device__ void update(float& p, float& m, float& v, float grad, const Step& step) {
    m = fmaf(step.rest1, grad - m, m);  // as torch.lerp; NaN in grad gets everywhere
    v = fmaf(step.rest2 * grad, grad, step.beta2 * v);
    const float root = fmaf(sqrtf(v), step.inverse_root, step.eps);
    p = fmaf(p, step.decay, -step.size * (m / root));
}

__global__ void __launch_bounds__(kThreads)
adamw(float* p, float* m, float* v, const float* grad, Step step, int64_t n) {
    // 64 bits before the multiplication: a 32-bit index wraps round from 2^31 elements on.
    const int64_t first = (static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x) * kOwn;
    if (first + kOwn <= n) {
        // Arrays begin at a multiple of 256 bytes, so every fourth element is aligned for a float4. All four loads are
        // in flight before the first is used.
        const float4 its_grad = *reinterpret_cast<const float4*>(grad + first);
        float4 its_m = *reinterpret_cast<const float4*>(m + first);
        float4 its_v = *reinterpret_cast<const float4*>(v + first);
        float4 its_p = *reinterpret_cast<const float4*>(p + first);
        update(its_p.x, its_m.x, its_v.x, its_grad.x, step);
        update(its_p.y, its_m.y, its_v.y, its_grad.y, step);
        update(its_p.z, its_m.z, its_v.z, its_grad.z, step);
        update(its_p.w, its_m.w, its_v.w, its_grad.w, step);
        *reinterpret_cast<float4*>(m + first) = its_m;
        *reinterpret_cast<float4*>(v + first) = its_v;
        *reinterpret_cast<float4*>(p + first) = its_p;
        return;
    }
    // The end of the arrays, unless n is a multiple of four; threads beyond it have nothing to do.
    for (int64_t i = first; i < n; ++i) update(p[i], m[i], v[i], grad[i], step);
}

extern "C" void solve(float* p, float* m, float* v, const float* grad, float lr, float beta1, float beta2, float eps,
                      float weight_decay, float bias1, float bias2, int64_t n) {
    if (n == 0) return;  // a grid of 0 blocks is a launch error
    // Once for all elements, and in double, so that nothing of it is rounded twice.
    const Step step = {static_cast<float>(1.0 - static_cast<double>(lr) * weight_decay),
                       beta1,
                       1.0f - beta1,
                       beta2,
                       1.0f - beta2,
                       static_cast<float>(1.0 / std::sqrt(static_cast<double>(bias2))),
                       eps,
                       static_cast<float>(static_cast<double>(lr) / bias1)};
    constexpr int64_t kPerBlock = kThreads * kOwn;
    adamw<<<static_cast<unsigned>((n + kPerBlock - 1) / kPerBlock), kThreads>>>(p, m, v, grad, step, n);
}
