// Mistake: a thread makes two columns and goes on adding to the first one's sum.
// Says: (sum|accumulat|total|column|previous|before) ; (clear|reset|set to 0|again|plus|added|adds|kept|before it|neighbour)
#include <cstdint>
#include <cuda_runtime.h>
__global__ void product(const float* a, const float* b, float* out, int64_t m, int64_t n, int64_t k) {
    int64_t r = blockIdx.y * 8LL + threadIdx.y, first = (blockIdx.x * 32LL + threadIdx.x) * 2;
    if (r >= m) return;
    float sum = 0;
    for (int64_t c = first; c < first + 2 && c < n; c++) {
        for (int64_t i = 0; i < k; i++) sum += a[r * k + i] * b[i * n + c];
        out[r * n + c] = sum;
    }
}
extern "C" void solve(const float* a, const float* b, float* out, int64_t m, int64_t n, int64_t k) {
    if (m && n) product<<<dim3((n + 63) / 64, (m + 7) / 8), dim3(32, 8)>>>(a, b, out, m, n, k);
}
