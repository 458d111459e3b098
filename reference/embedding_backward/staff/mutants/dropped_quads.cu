// Mistake: adds four columns at a time and leaves out the last dim % 4.
#include <cstdint>
#include <cuda_runtime.h>

constexpr int kThreads = 256;

__global__ void add(const float* grad, const int64_t* indices, float* out, int64_t padding, int64_t tokens,
                    int64_t dim) {
    const int64_t i = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
    const int64_t quads = dim / 4;
    if (i >= tokens * quads) return;
    const int64_t token = i / quads, column = i % quads * 4, row = indices[token];
    if (row == padding) return;
    for (int64_t c = column; c < column + 4; ++c) atomicAdd(&out[row * dim + c], grad[token * dim + c]);
}

extern "C" void solve(const float* grad, const int64_t* indices, float* out, int64_t padding, int64_t tokens,
                      int64_t dim, int64_t vocab) {
    if (dim == 0 || vocab == 0) return;
    cudaMemsetAsync(out, 0, vocab * dim * sizeof(float), 0);
    const int64_t blocks = (tokens * dim + kThreads - 1) / kThreads;
    if (blocks) add<<<static_cast<unsigned>(blocks), kThreads>>>(grad, indices, out, padding, tokens, dim);
}
