// Mistake: the sum is an int, so each partial sum loses its fraction.
// Says: (integer|\bint\b|whole|fraction)
__global__ void mm(const float* a, const float* b, float* out, int64_t m, int64_t n, int64_t k) {
    int64_t column = blockIdx.x * 16LL + threadIdx.x, row = blockIdx.y * 16LL + threadIdx.y;
    if (row >= m || column >= n) return;
    int s = 0;
    for (int64_t p = 0; p < k; p++) s += a[row * k + p] * b[p * n + column];
    out[row * n + column] = s;
}
extern "C" void solve(const float* a, const float* b, float* out, int64_t m, int64_t n, int64_t k) {
    if (m && n) mm<<<dim3((n + 15) / 16, (m + 15) / 16), dim3(16, 16)>>>(a, b, out, m, n, k);
}
