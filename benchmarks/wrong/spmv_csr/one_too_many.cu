// Mistake: the loop over a row's entries includes the first entry of the next row.
// Says: (past the end|one (entry|element|term) too many|lets .* through|first .* of the next)
#include <cuda_runtime.h>
#include <cstdint>

__global__ void spmv(const int64_t* row_ptr, const int64_t* col, const float* val, const float* x, float* out, int64_t rows) {
    int64_t r = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    float acc = 0;
    for (int64_t e = row_ptr[r]; e <= row_ptr[r + 1]; e++)
        acc += val[e] * x[col[e]]; // HERE
    out[r] = acc;
}

extern "C" void solve(const int64_t* row_ptr, const int64_t* col, const float* val, const float* x, float* out, int64_t rows, int64_t cols, int64_t nnz) {
    if (rows > 0) spmv<<<(rows + 127) / 128, 128>>>(row_ptr, col, val, x, out, rows);
}
