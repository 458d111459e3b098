// Mistake: all 32 lanes of a row's warp begin at its first entry and take every entry, so each counts 32 times.
// Says: (32) ; (times|lane|thread|too often|multipl)
#include <cstdint>
#include <cuda_runtime.h>
__global__ void spmv(const int64_t* row_ptr, const int64_t* col, const float* val, const float* x, float* out) {
    int64_t r = blockIdx.x;
    float sum = 0;
    for (int64_t e = row_ptr[r]; e < row_ptr[r + 1]; e++) sum += val[e] * x[col[e]];
    for (int d = 16; d; d /= 2) sum += __shfl_down_sync(0xffffffff, sum, d);
    if (threadIdx.x == 0) out[r] = sum;
}
extern "C" void solve(const int64_t* row_ptr, const int64_t* col, const float* val, const float* x, float* out, int64_t rows, int64_t cols, int64_t nnz) {
    if (rows) spmv<<<rows, 32>>>(row_ptr, col, val, x, out);
}
