// Mistake: a thread makes two neighbouring results and does not clear its sum between them.
// Says: (sum|accumulat|total|neighbour|previous|before) ; (clear|reset|set to 0|again|plus|added|kept|adds|before it|once more)
#include <cstdint>
#include <cuda_runtime.h>
__global__ void conv(const float* x, const float* w, float* out, int64_t count, int64_t k) {
    int64_t first = (blockIdx.x * (int64_t)blockDim.x + threadIdx.x) * 2;
    float sum = 0;
    for (int64_t i = first; i < first + 2 && i < count; i++) {
        for (int64_t t = 0; t < k; t++) sum += x[i + t] * w[t];
        out[i] = sum;
    }
}
extern "C" void solve(const float* x, const float* w, float* out, int64_t n, int64_t k) {
    int64_t count = n - k + 1;
    if (count > 0) conv<<<(count + 255) / 256, 128>>>(x, w, out, count, k);
}
