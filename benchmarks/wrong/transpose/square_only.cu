// Mistake: rows are used as the input's stride, which fits square matrices only.
// Says: (row of x|stride|cols|i \* cols)
__global__ void transpose(const float* x, float* out, int64_t rows, int64_t cols) {
    int64_t c = blockIdx.x * 16 + threadIdx.x, r = blockIdx.y * 16 + threadIdx.y;
    if (r < rows && c < cols) out[c * rows + r] = x[r * rows + c];  // HERE
}
extern "C" void solve(const float* x, float* out, int64_t rows, int64_t cols) {
    if (rows && cols) transpose<<<dim3((cols + 15) / 16, (rows + 15) / 16), dim3(16, 16)>>>(x, out, rows, cols);
}
