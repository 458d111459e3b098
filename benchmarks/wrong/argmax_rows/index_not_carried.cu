// Mistake: the tree takes over the larger value but not its index, so thread 0 keeps its own.
// Says: (index|place|position) ; (carried|moved|taken over|with the value|own|only every|first)
#include <cstdint>
#include <cuda_runtime.h>
__global__ void argmax(const float* x, int64_t* out, int64_t cols) {
    __shared__ float v[128];
    __shared__ int64_t at[128];
    const float* row = x + blockIdx.x * cols;
    int t = threadIdx.x;
    float best = -INFINITY;
    int64_t where = 0;
    for (int64_t c = t; c < cols; c += 128)
        if (row[c] > best) { best = row[c]; where = c; }
    v[t] = best;
    at[t] = where;
    __syncthreads();
    for (int s = 64; s > 0; s /= 2) {
        if (t < s && v[t + s] > v[t]) v[t] = v[t + s];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = at[0];
}
extern "C" void solve(const float* x, int64_t* out, int64_t rows, int64_t cols) {
    if (rows) argmax<<<rows, 128>>>(x, out, cols);
}
