// Tensor cores by mma.sync, so that scores, weights and result never leave the registers: a warp for 16 queries, keys
// and values in shared memory, 16 at a time. Keys behind the block's last query are left out.
#include <cmath>
#include <cstdint>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

constexpr int kWarps = 4, kQueries = 16 * kWarps, kKeys = 16;

__device__ void multiply(float (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

__device__ uint32_t pair(__half low, __half high) {
    const __half2 both = __halves2half2(low, high);
    return *reinterpret_cast<const uint32_t*>(&both);
}

// Over the four lanes that have a query.
__device__ float four_max(float value) {
    value = fmaxf(value, __shfl_xor_sync(0xffffffffu, value, 1));
    return fmaxf(value, __shfl_xor_sync(0xffffffffu, value, 2));
}

template <int Width>
__global__ void attend(const __half* q, const __half* k, const __half* v, __half* out, float scale, int64_t seq,
                       int dim, int64_t blocks) {
    __shared__ __half keys[kKeys][Width + 8], values[kKeys][Width + 8];
    const int lane = threadIdx.x % 32, group = lane / 4, two = lane % 4 * 2;
    const int64_t head = blockIdx.x / blocks * seq * dim, first = blockIdx.x % blocks * kQueries;
    const int64_t top = first + threadIdx.x / 32 * 16 + group;  // this lane's queries: top and top + 8
    const __half zero = __float2half(0.0f);
    uint32_t own[Width / 16][4];
    float result[Width / 8][4] = {}, highest[2] = {-INFINITY, -INFINITY}, total[2] = {};
#pragma unroll
    for (int i = 0; i < Width / 16; ++i)
#pragma unroll
        for (int j = 0; j < 4; ++j) {
            const int64_t query = top + j % 2 * 8;
            const int d = i * 16 + two + j / 2 * 8;
            own[i][j] = pair(query < seq && d < dim ? q[head + query * dim + d] : zero,
                             query < seq && d + 1 < dim ? q[head + query * dim + d + 1] : zero);
        }
    const int64_t end = first + kQueries < seq ? first + kQueries : seq;
    for (int64_t start = 0; start < end; start += kKeys) {
        __syncthreads();
        for (int i = threadIdx.x; i < kKeys * Width; i += 32 * kWarps) {
            const int row = i / Width, d = i % Width;
            const bool inside = start + row < seq && d < dim;
            keys[row][d] = inside ? k[head + (start + row) * dim + d] : zero;
            values[row][d] = inside ? v[head + (start + row) * dim + d] : zero;
        }
        __syncthreads();
        float scores[2][4] = {};
#pragma unroll
        for (int i = 0; i < Width / 16; ++i)
#pragma unroll
            for (int n = 0; n < 2; ++n) {
                const __half* row = &keys[n * 8 + group][i * 16 + two];
                multiply(scores[n], own[i], *reinterpret_cast<const uint32_t*>(row),
                         *reinterpret_cast<const uint32_t*>(row + 8));
            }
        uint32_t weights[4];
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            const int64_t query = top + half * 8;
            float seen[4], higher = highest[half];
            for (int j = 0; j < 4; ++j) {
                const int64_t key = start + j / 2 * 8 + two + j % 2;
                seen[j] = key <= query && key < seq ? scores[j / 2][half * 2 + j % 2] * scale : -INFINITY;
                higher = fmaxf(higher, seen[j]);
            }
            higher = four_max(higher);
            const float reference = higher == -INFINITY ? 0.0f : higher, shrink = expf(highest[half] - reference);
            total[half] *= shrink;
            for (int j = 0; j < 4; ++j) total[half] += seen[j] = expf(seen[j] - reference);
            for (int i = 0; i < Width / 8; ++i) result[i][half * 2] *= shrink, result[i][half * 2 + 1] *= shrink;
            weights[half] = pair(__float2half(seen[0]), __float2half(seen[1]));
            weights[half + 2] = pair(__float2half(seen[2]), __float2half(seen[3]));
            highest[half] = higher;
        }
#pragma unroll
        for (int i = 0; i < Width / 8; ++i) {
            const int d = i * 8 + group;
            multiply(result[i], weights, pair(values[two][d], values[two + 1][d]),
                     pair(values[two + 8][d], values[two + 9][d]));
        }
    }
    for (int half = 0; half < 2; ++half) {
        float all = total[half];
        all += __shfl_xor_sync(0xffffffffu, all, 1);
        all += __shfl_xor_sync(0xffffffffu, all, 2);
        const int64_t query = top + half * 8;
        for (int i = 0; i < Width / 8; ++i)
            for (int j = 0; j < 2; ++j)
                if (const int d = i * 8 + two + j; query < seq && d < dim)
                    out[head + query * dim + d] = __float2half(result[i][half * 2 + j] / all);
    }
}

extern "C" void solve(const __half* q, const __half* k, const __half* v, __half* out, float scale, int64_t heads,
                      int64_t seq, int64_t dim) {
    if (heads == 0 || seq == 0 || dim == 0) return;
    const int64_t blocks = (seq + kQueries - 1) / kQueries;
    const unsigned grid = static_cast<unsigned>(blocks * heads);
    const int width = static_cast<int>(dim);
    if (dim <= 64)
        attend<64><<<grid, 32 * kWarps>>>(q, k, v, out, scale, seq, width, blocks);
    else
        attend<256><<<grid, 32 * kWarps>>>(q, k, v, out, scale, seq, width, blocks);
}
