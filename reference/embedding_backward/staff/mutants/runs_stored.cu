// Mistake: adds up runs of equal neighbours and stores the sum, as if the tokens were sorted.
#include <cstdint>
#include <cuda_runtime.h>

constexpr int kThreads = 256;

__global__ void sum_runs(const float* grad, const int64_t* indices, float* out, int64_t padding, int64_t tokens,
                         int64_t dim) {
    const int64_t i = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
    if (i >= tokens * dim) return;
    const int64_t token = i / dim, column = i % dim, row = indices[token];
    if (row == padding || (token > 0 && indices[token - 1] == row)) return;
    float sum = 0.0f;
    for (int64_t t = token; t < tokens && indices[t] == row; ++t) sum += grad[t * dim + column];
    out[row * dim + column] = sum;
}

extern "C" void solve(const float* grad, const int64_t* indices, float* out, int64_t padding, int64_t tokens,
                      int64_t dim, int64_t vocab) {
    if (dim == 0 || vocab == 0) return;
    cudaMemsetAsync(out, 0, vocab * dim * sizeof(float), 0);
    const int64_t blocks = (tokens * dim + kThreads - 1) / kThreads;
    if (blocks) sum_runs<<<static_cast<unsigned>(blocks), kThreads>>>(grad, indices, out, padding, tokens, dim);
}
