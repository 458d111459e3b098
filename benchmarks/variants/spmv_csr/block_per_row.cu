// A block of 128 for each row: most of its threads have nothing to do.
#include <cstdint>
#include <cuda_runtime.h>

__global__ void multiply(const int64_t* row_ptr, const int64_t* col, const float* val, const float* x, float* out) {
    __shared__ float parts[128];
    float sum = 0.0f;
    for (int64_t i = row_ptr[blockIdx.x] + threadIdx.x; i < row_ptr[blockIdx.x + 1]; i += 128) sum += val[i] * x[col[i]];
    parts[threadIdx.x] = sum;
    __syncthreads();
    for (int half = 64; half > 0; half /= 2) {
        if (threadIdx.x < half) parts[threadIdx.x] += parts[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) out[blockIdx.x] = parts[0];
}

extern "C" void solve(const int64_t* row_ptr, const int64_t* col, const float* val, const float* x, float* out,
                      int64_t rows, int64_t cols, int64_t nnz) {
    if (rows) multiply<<<static_cast<unsigned>(rows), 128>>>(row_ptr, col, val, x, out);
}
