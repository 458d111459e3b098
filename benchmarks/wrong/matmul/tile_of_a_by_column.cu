// Mistake: the product takes column ty of the tile of a, not row ty.
// Says: \ba\b ; (transpos|rows and columns|column|exchang|tile)
#include <cstdint>
__global__ void mm(const float* a, const float* b, float* out, int64_t m, int64_t n, int64_t k) {
    __shared__ float A[16][16], B[16][16];
    int tx = threadIdx.x, ty = threadIdx.y;
    int64_t row = blockIdx.y * 16LL + ty, column = blockIdx.x * 16LL + tx;
    float s = 0;
    for (int64_t first = 0; first < k; first += 16) {
        A[ty][tx] = row < m && first + tx < k ? a[row * k + first + tx] : 0.0f;
        B[ty][tx] = first + ty < k && column < n ? b[(first + ty) * n + column] : 0.0f;
        __syncthreads();
        for (int p = 0; p < 16; p++) s += A[p][ty] * B[p][tx];
        __syncthreads();
    }
    if (row < m && column < n) out[row * n + column] = s;
}
extern "C" void solve(const float* a, const float* b, float* out, int64_t m, int64_t n, int64_t k) {
    if (m && n) mm<<<dim3((n + 15) / 16, (m + 15) / 16), dim3(16, 16)>>>(a, b, out, m, n, k);
}
