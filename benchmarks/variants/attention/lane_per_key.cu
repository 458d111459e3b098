// A warp takes four queries and a lane each of 32 keys: no sum over lanes for a score, keys lie in shared memory.
#include <cmath>
#include <cstdint>
#include <cuda_runtime.h>

constexpr int kWarps = 4, kOwn = 4, kKeys = 32, kQueries = kWarps * kOwn;

template <int Width>
__global__ void attend(const float* q, const float* k, const float* v, float* out, float scale, int64_t seq, int dim,
                       int64_t blocks) {
    constexpr int kColumns = Width / 32;
    extern __shared__ float shared[];
    float(*queries)[Width] = reinterpret_cast<float(*)[Width]>(shared);
    float(*tile)[Width + 1] = reinterpret_cast<float(*)[Width + 1]>(shared + kQueries * Width);
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int64_t head = blockIdx.x / blocks * seq * dim, first = blockIdx.x % blocks * kQueries;
    for (int i = threadIdx.x; i < kQueries * Width; i += 32 * kWarps)
        queries[i / Width][i % Width] =
            first + i / Width < seq && i % Width < dim ? q[head + (first + i / Width) * dim + i % Width] : 0.0f;
    float highest[kOwn], total[kOwn], result[kOwn][kColumns] = {};
    for (int i = 0; i < kOwn; ++i) highest[i] = -INFINITY, total[i] = 0.0f;
    for (int64_t start = 0; start < seq; start += kKeys) {
        float weight[kOwn], score[kOwn] = {};
        for (int values = 0; values < 2; ++values) {
            const float* from = values ? v : k;
            __syncthreads();
            for (int i = threadIdx.x; i < kKeys * Width; i += 32 * kWarps)
                tile[i / Width][i % Width] = start + i / Width < seq && i % Width < dim
                                                 ? from[head + (start + i / Width) * dim + i % Width]
                                                 : 0.0f;
            __syncthreads();
            if (values) break;
            for (int d = 0; d < Width; ++d)
                for (int i = 0; i < kOwn; ++i) score[i] += queries[warp * kOwn + i][d] * tile[lane][d];
        }
        for (int i = 0; i < kOwn; ++i) {
            const float mine = start + lane < seq ? score[i] * scale : -INFINITY;
            float higher = mine;
            for (int step = 16; step > 0; step /= 2)
                higher = fmaxf(higher, __shfl_xor_sync(0xffffffffu, higher, step));
            higher = fmaxf(higher, highest[i]);
            const float reference = higher == -INFINITY ? 0.0f : higher, shrink = expf(highest[i] - reference);
            weight[i] = expf(mine - reference);
            total[i] = total[i] * shrink + weight[i];
            for (int j = 0; j < kColumns; ++j) result[i][j] *= shrink;
            highest[i] = higher;
        }
        for (int key = 0; key < kKeys; ++key)
            for (int i = 0; i < kOwn; ++i) {
                const float one = __shfl_sync(0xffffffffu, weight[i], key);
                for (int j = 0; j < kColumns; ++j) result[i][j] += one * tile[key][lane + 32 * j];
            }
    }
    for (int i = 0; i < kOwn; ++i) {
        for (int step = 16; step > 0; step /= 2) total[i] += __shfl_xor_sync(0xffffffffu, total[i], step);
        const int64_t query = first + warp * kOwn + i;
        for (int j = 0; j < kColumns; ++j)
            if (query < seq && lane + 32 * j < dim) out[head + query * dim + lane + 32 * j] = result[i][j] / total[i];
    }
}

template <int Width>
void launch(const float* q, const float* k, const float* v, float* out, float scale, int64_t heads, int64_t seq,
            int64_t dim) {
    const int64_t blocks = (seq + kQueries - 1) / kQueries;
    const size_t bytes = (kQueries * Width + kKeys * (Width + 1)) * sizeof(float);
    cudaFuncSetAttribute(attend<Width>, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes));
    attend<Width><<<static_cast<unsigned>(blocks * heads), 32 * kWarps, bytes>>>(q, k, v, out, scale, seq,
                                                                                 static_cast<int>(dim), blocks);
}

extern "C" void solve(const float* q, const float* k, const float* v, float* out, float scale, int64_t heads,
                      int64_t seq, int64_t dim) {
    if (heads == 0 || seq == 0 || dim == 0) return;
    if (dim <= 64)
        launch<64>(q, k, v, out, scale, heads, seq, dim);
    else
        launch<256>(q, k, v, out, scale, heads, seq, dim);
}
