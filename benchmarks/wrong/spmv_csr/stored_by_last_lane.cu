// Mistake: after __shfl_down_sync the sum is in lane 0, and lane 31 stores its own part.
// Says: (lane|modulo 32|each 32|shuffle|part|every 32nd|last of) ; (lane 0|lane 31|only|left out|leaves|31)
__global__ void spmv(const int64_t* row_ptr, const int64_t* col, const float* val, const float* x, float* out, int64_t rows) {
    int64_t r = blockIdx.x * 4LL + threadIdx.y;
    int lane = threadIdx.x;
    if (r >= rows) return;
    float s = 0;
    for (int64_t j = row_ptr[r] + lane; j < row_ptr[r + 1]; j += 32) s += val[j] * x[col[j]];
    for (int step = 16; step; step /= 2) s += __shfl_down_sync(~0u, s, step);
    if (lane == 31) out[r] = s;
}
extern "C" void solve(const int64_t* row_ptr, const int64_t* col, const float* val, const float* x, float* out, int64_t rows, int64_t cols, int64_t nnz) {
    if (rows) spmv<<<(rows + 3) / 4, dim3(32, 4)>>>(row_ptr, col, val, x, out, rows);
}
