#include <cstdint>
#include <utility>

__global__ void add(const float* in, float* out, int64_t n, int64_t back) {
    int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < n) out[i] = i >= back ? in[i] + in[i - back] : in[i];
}

extern "C" void solve(const float* x, float* out, int64_t n) {
    float* next;
    cudaMallocAsync(&next, n * sizeof(float), 0);
    float* now = out;
    cudaMemcpyAsync(now, x, n * sizeof(float), cudaMemcpyDeviceToDevice);
    for (int64_t back = 1; back < n; back *= 2) {
        add<<<(n + 255) / 256, 256>>>(now, next, n, back);
        std::swap(now, next);
    }
    if (now != out) cudaMemcpyAsync(out, now, n * sizeof(float), cudaMemcpyDeviceToDevice);
    cudaFreeAsync(now == out ? next : now, 0);
}
