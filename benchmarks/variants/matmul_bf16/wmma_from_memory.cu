// Tensor cores whose tiles of 16 x 16 come straight from global memory, a warp a block.
#include <cstdint>
#include <cuda_bf16.h>
#include <cuda_runtime.h>
#include <mma.h>

using namespace nvcuda;
using Half = __nv_bfloat16;
constexpr int kSide = 16, kWarps = 1;

__global__ void matmul(const Half* a, const Half* b, Half* out, int64_t m, int64_t n, int64_t k) {
    __shared__ float piece[kWarps][kSide][kSide];
    __shared__ alignas(32) Half left[kWarps][kSide][kSide], right[kWarps][kSide][kSide];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int64_t row0 = static_cast<int64_t>(blockIdx.y) * kSide;
    const int64_t column0 = (static_cast<int64_t>(blockIdx.x) * kWarps + warp) * kSide;
    const bool whole = row0 + kSide <= m && column0 + kSide <= n && n % 8 == 0 && k % kSide == 0;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> total;
    wmma::fill_fragment(total, 0.0f);
    for (int64_t start = 0; start < k; start += kSide) {
        wmma::fragment<wmma::matrix_a, 16, 16, 16, Half, wmma::row_major> mine;
        wmma::fragment<wmma::matrix_b, 16, 16, 16, Half, wmma::row_major> theirs;
        if (whole) {
            wmma::load_matrix_sync(mine, a + row0 * k + start, k);
            wmma::load_matrix_sync(theirs, b + start * n + column0, n);
        } else {
            for (int i = lane; i < kSide * kSide; i += 32) {
                const int r = i / kSide, c = i % kSide;
                left[warp][r][c] = row0 + r < m && start + c < k ? a[(row0 + r) * k + start + c] : __float2bfloat16(0.0f);
                right[warp][r][c] = start + r < k && column0 + c < n ? b[(start + r) * n + column0 + c] : __float2bfloat16(0.0f);
            }
            __syncwarp();
            wmma::load_matrix_sync(mine, &left[warp][0][0], kSide);
            wmma::load_matrix_sync(theirs, &right[warp][0][0], kSide);
            __syncwarp();
        }
        wmma::mma_sync(total, mine, theirs, total);
    }
    wmma::store_matrix_sync(&piece[warp][0][0], total, kSide, wmma::mem_row_major);
    __syncwarp();
    for (int i = lane; i < kSide * kSide; i += 32) {
        const int64_t row = row0 + i / kSide, column = column0 + i % kSide;
        if (row < m && column < n) out[row * n + column] = __float2bfloat16(piece[warp][i / kSide][i % kSide]);
    }
}

extern "C" void solve(const Half* a, const Half* b, Half* out, int64_t m, int64_t n, int64_t k) {
    if (m == 0 || n == 0) return;
    const int64_t across = (n + kSide * kWarps - 1) / (kSide * kWarps);
    matmul<<<dim3(across, (m + kSide - 1) / kSide), 32 * kWarps>>>(a, b, out, m, n, k);
}
