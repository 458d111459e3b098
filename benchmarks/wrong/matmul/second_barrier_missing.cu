// Mistake: no barrier after the tile is used, so fast warps overwrite it.
// Says: __syncthreads|barrier|order
__global__ void matmul(const float* a, const float* b, float* out, int64_t m, int64_t n, int64_t k) {
    __shared__ float ta[16][16], tb[16][16];
    int64_t row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x;
    float sum = 0;
    for (int64_t t = 0; t < k; t += 16) {
        ta[threadIdx.y][threadIdx.x] = row < m && t + threadIdx.x < k ? a[row * k + t + threadIdx.x] : 0;  // HERE
        tb[threadIdx.y][threadIdx.x] = col < n && t + threadIdx.y < k ? b[(t + threadIdx.y) * n + col] : 0;  // HERE
        __syncthreads();
        for (int i = 0; i < 16; i++) sum += ta[threadIdx.y][i] * tb[i][threadIdx.x];  // HERE
    }
    if (row < m && col < n) out[row * n + col] = sum;
}
extern "C" void solve(const float* a, const float* b, float* out, int64_t m, int64_t n, int64_t k) {
    if (m && n) matmul<<<dim3((n + 15) / 16, (m + 15) / 16), dim3(16, 16)>>>(a, b, out, m, n, k);
}
