// Mistake: the array is copied, not transposed.
// Says: (copied|not transposed|same order|copy|unchanged|as it is|row by row|input itself)
__global__ void transpose(const float* x, float* out, int64_t rows, int64_t cols) {
    int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (i < rows * cols) out[i] = x[i];
}
extern "C" void solve(const float* x, float* out, int64_t rows, int64_t cols) {
    int64_t n = rows * cols;
    if (n > 0) transpose<<<(n + 255) / 256, 256>>>(x, out, rows, cols);
}
