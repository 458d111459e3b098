// A block takes 64 rows and walks through their entries as they lie in memory: products go to shared memory, then a
// thread for each row adds up those that are its own.
#include <cstdint>
#include <cuda_runtime.h>

constexpr int kThreads = 256, kRows = 64, kChunk = 2048;

__global__ void multiply(const int64_t* row_ptr, const int64_t* col, const float* val, const float* x, float* out,
                         int64_t rows) {
    __shared__ float products[kChunk];
    const int64_t first = static_cast<int64_t>(blockIdx.x) * kRows, row = first + threadIdx.x;
    const int64_t last = first + kRows < rows ? first + kRows : rows, stop = row_ptr[last];
    const bool owner = threadIdx.x < kRows && row < rows;
    const int64_t begin = owner ? row_ptr[row] : 0, end = owner ? row_ptr[row + 1] : 0;
    float sum = 0.0f;
    for (int64_t start = row_ptr[first]; start < stop; start += kChunk) {
        const int64_t over = start + kChunk < stop ? start + kChunk : stop;
        __syncthreads();
        for (int64_t i = start + threadIdx.x; i < over; i += kThreads) products[i - start] = val[i] * x[col[i]];
        __syncthreads();
        for (int64_t i = begin > start ? begin : start; i < end && i < over; ++i) sum += products[i - start];
    }
    if (owner) out[row] = sum;
}

extern "C" void solve(const int64_t* row_ptr, const int64_t* col, const float* val, const float* x, float* out,
                      int64_t rows, int64_t cols, int64_t nnz) {
    if (rows) multiply<<<static_cast<unsigned>((rows + kRows - 1) / kRows), kThreads>>>(row_ptr, col, val, x, out, rows);
}
