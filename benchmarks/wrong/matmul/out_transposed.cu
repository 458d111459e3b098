// Mistake: the product is stored transposed.
// Says: transposed|exchanged|row of out|stride|column
__global__ void matmul(const float* a, const float* b, float* out, int64_t m, int64_t n, int64_t k) {
    int64_t row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x;
    if (row >= m || col >= n) return;
    float sum = 0;
    for (int64_t i = 0; i < k; i++) sum += a[row * k + i] * b[i * n + col];
    out[col * m + row] = sum;
}
extern "C" void solve(const float* a, const float* b, float* out, int64_t m, int64_t n, int64_t k) {
    if (m && n) matmul<<<dim3((n + 15) / 16, (m + 15) / 16), dim3(16, 16)>>>(a, b, out, m, n, k);
}
