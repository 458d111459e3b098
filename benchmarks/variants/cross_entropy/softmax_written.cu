// Three launches: maxima and sums, the logarithm of each softmax into memory, then the labels' elements of it.
#include <cmath>
#include <cstdint>
#include <cuda_runtime.h>

constexpr int kThreads = 256;

__global__ void sums(const float* logits, float2* found, int64_t cols) {
    __shared__ float parts[kThreads];
    const float* x = logits + blockIdx.x * cols;
    float highest = -INFINITY, sum = 0.0f;
    for (int64_t i = threadIdx.x; i < cols; i += kThreads) highest = fmaxf(highest, x[i]);
    parts[threadIdx.x] = highest;
    __syncthreads();
    for (int half = kThreads / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) parts[threadIdx.x] = fmaxf(parts[threadIdx.x], parts[threadIdx.x + half]);
        __syncthreads();
    }
    highest = parts[0];
    __syncthreads();
    for (int64_t i = threadIdx.x; i < cols; i += kThreads) sum += expf(x[i] - highest);
    parts[threadIdx.x] = sum;
    __syncthreads();
    for (int half = kThreads / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) parts[threadIdx.x] += parts[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) found[blockIdx.x] = make_float2(highest, parts[0]);
}

__global__ void logs(const float* logits, const float2* found, float* written, int64_t n, int64_t cols) {
    const int64_t i = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
    if (i >= n) return;
    const float2 row = found[i / cols];
    written[i] = (logits[i] - row.x) - logf(row.y);
}

__global__ void pick(const float* written, const int64_t* labels, float* out, int64_t rows, int64_t cols) {
    const int64_t row = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
    if (row < rows) out[row] = labels[row] == -100 ? 0.0f : -written[row * cols + labels[row]];
}

extern "C" void solve(const float* logits, const int64_t* labels, float* out, int64_t rows, int64_t cols) {
    if (rows == 0) return;
    const int64_t n = rows * cols;
    char* memory = nullptr;
    if (cudaMallocAsync(reinterpret_cast<void**>(&memory), rows * sizeof(float2) + n * sizeof(float), 0) != cudaSuccess)
        return;
    float2* found = reinterpret_cast<float2*>(memory);
    float* written = reinterpret_cast<float*>(memory + rows * sizeof(float2));
    sums<<<static_cast<unsigned>(rows), kThreads>>>(logits, found, cols);
    if (n) logs<<<static_cast<unsigned>((n + kThreads - 1) / kThreads), kThreads>>>(logits, found, written, n, cols);
    pick<<<static_cast<unsigned>((rows + kThreads - 1) / kThreads), kThreads>>>(written, labels, out, rows, cols);
    cudaFreeAsync(memory, 0);
}
