// Mistake: the grid has the column tiles on x, and the kernel takes the row from blockIdx.x.
// Says: (blockIdx|grid|axes|axis) ; (\bx\b|\by\b|exchang|swap|along)
__global__ void mm(const float* a, const float* b, float* out, int64_t m, int64_t n, int64_t k) {
    int64_t row = blockIdx.x * 16LL + threadIdx.y, column = blockIdx.y * 16LL + threadIdx.x;
    if (row >= m || column >= n) return;
    float s = 0;
    for (int64_t p = 0; p < k; p++) s += a[row * k + p] * b[p * n + column];
    out[row * n + column] = s;
}
extern "C" void solve(const float* a, const float* b, float* out, int64_t m, int64_t n, int64_t k) {
    if (m && n) mm<<<dim3((n + 15) / 16, (m + 15) / 16), dim3(16, 16)>>>(a, b, out, m, n, k);
}
