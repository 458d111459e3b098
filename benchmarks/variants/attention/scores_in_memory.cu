// All scores go to memory: a launch for q k^T, one for softmax, one for the weighted values.
#include <cmath>
#include <cstdint>
#include <cuda_runtime.h>

constexpr int kThreads = 128;

// Over the block, for all of its threads.
__device__ float all_sum(float value) {
    __shared__ float parts[kThreads];
    __syncthreads();
    parts[threadIdx.x] = value;
    __syncthreads();
    for (int half = kThreads / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) parts[threadIdx.x] += parts[threadIdx.x + half];
        __syncthreads();
    }
    return parts[0];
}

__device__ float all_max(float value) {
    __shared__ float parts[kThreads];
    __syncthreads();
    parts[threadIdx.x] = value;
    __syncthreads();
    for (int half = kThreads / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) parts[threadIdx.x] = fmaxf(parts[threadIdx.x], parts[threadIdx.x + half]);
        __syncthreads();
    }
    return parts[0];
}

__global__ void score(const float* q, const float* k, float* scores, float scale, int64_t seq, int64_t dim) {
    __shared__ float left[16][17], right[16][17];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int64_t base = blockIdx.z * seq * dim, query = blockIdx.y * 16 + ty, key = blockIdx.x * 16 + tx;
    const int64_t loaded = blockIdx.x * 16 + ty;
    float sum = 0.0f;
    for (int64_t start = 0; start < dim; start += 16) {
        left[ty][tx] = query < seq && start + tx < dim ? q[base + query * dim + start + tx] : 0.0f;
        right[ty][tx] = loaded < seq && start + tx < dim ? k[base + loaded * dim + start + tx] : 0.0f;
        __syncthreads();
        for (int i = 0; i < 16; ++i) sum += left[ty][i] * right[tx][i];
        __syncthreads();
    }
    if (query < seq && key < seq) scores[blockIdx.z * seq * seq + query * seq + key] = sum * scale;
}

__global__ void softmax(float* scores, int64_t cols) {
    float* row = scores + blockIdx.x * cols;
    float highest = -INFINITY, sum = 0.0f;
    for (int64_t i = threadIdx.x; i < cols; i += kThreads) highest = fmaxf(highest, row[i]);
    highest = all_max(highest);
    for (int64_t i = threadIdx.x; i < cols; i += kThreads) sum += expf(row[i] - highest);
    sum = all_sum(sum);
    for (int64_t i = threadIdx.x; i < cols; i += kThreads) row[i] = expf(row[i] - highest) / sum;
}

__global__ void weigh(const float* weights, const float* v, float* out, int64_t seq, int64_t dim) {
    const int64_t query = blockIdx.y * 8 + threadIdx.y, column = blockIdx.x * 32 + threadIdx.x;
    if (query >= seq || column >= dim) return;
    const float* row = weights + blockIdx.z * seq * seq + query * seq;
    float sum = 0.0f;
    for (int64_t i = 0; i < seq; ++i) sum += row[i] * v[blockIdx.z * seq * dim + i * dim + column];
    out[blockIdx.z * seq * dim + query * dim + column] = sum;
}

extern "C" void solve(const float* q, const float* k, const float* v, float* out, float scale, int64_t heads,
                      int64_t seq, int64_t dim) {
    if (heads == 0 || seq == 0 || dim == 0) return;
    float* scores = nullptr;
    if (cudaMallocAsync(reinterpret_cast<void**>(&scores), heads * seq * seq * sizeof(float), 0) != cudaSuccess) return;
    const unsigned tiles = static_cast<unsigned>((seq + 15) / 16);
    score<<<dim3(tiles, tiles, heads), dim3(16, 16)>>>(q, k, scores, scale, seq, dim);
    softmax<<<static_cast<unsigned>(heads * seq), kThreads>>>(scores, seq);
    weigh<<<dim3((dim + 31) / 32, (seq + 7) / 8, heads), dim3(32, 8)>>>(scores, v, out, seq, dim);
    cudaFreeAsync(scores, 0);
}
