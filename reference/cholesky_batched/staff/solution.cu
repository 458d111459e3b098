// Cholesky factors: a thread holds one row of a matrix in registers, so up to 64 threads have a matrix. The column that
// all of them need goes through shared memory, once.
#include <cstdint>
#include <cuda_runtime.h>

constexpr int kThreads = 128;
constexpr int kLargest = 64;         // rows of a matrix whose rows are held in registers
constexpr int kGeneralThreads = 256;

// Within 1 ulp; 0 and infinity are their own roots, and a negative number has NaN.
__device__ __forceinline__ float root_of(float x) {
    float root;
    asm("sqrt.approx.f32 %0, %1;" : "=f"(root) : "f"(x));
    return root;
}

// Waits for the threads of a matrix: lanes of a warp, or a block of two warps.
template <int kSide>
__device__ __forceinline__ void meet() {
    if constexpr (kSide <= 32)
        __syncwarp();
    else
        __syncthreads();
}

template <int kSide>
constexpr int kBlock = kSide <= 32 ? kThreads : kSide;

// kSide: n, rounded up. A block has kBlock<kSide> / kSide matrices.
template <int kSide>
__global__ void __launch_bounds__(kBlock<kSide>, kSide <= 32 ? 0 : 10)
factor(const float* __restrict__ a, float* __restrict__ out, int64_t batch, int n) {
    constexpr int kMatrices = kBlock<kSide> / kSide;
    // Two buffers: a thread writes the next column while others still read this one.
    __shared__ float4 columns[2][kMatrices][kSide / 4];
    // Rows on their way out. Four floats more than a row: eight threads that write 16 bytes each use all banks once.
    __shared__ float4 rows[kMatrices][kSide][kSide / 4 + 1];
    const int mine = threadIdx.x % kSide, group = threadIdx.x / kSide;
    const int64_t matrix = static_cast<int64_t>(blockIdx.x) * kMatrices + group;
    const int64_t begin = matrix * n * n;
    const bool there = matrix < batch && mine < n;

    // Row `mine` up to the diagonal is column `mine` down to the diagonal: read as a column, it is coalesced.
    float row[kSide];
#pragma unroll
    for (int j = 0; j < kSide; ++j) row[j] = there && j <= mine ? a[begin + j * n + mine] : 0.0f;

#pragma unroll
    for (int j = 0; j < kSide; ++j) {
        if (j >= n) break;
        float4(&column)[kSide / 4] = columns[j % 2][group];
        reinterpret_cast<float*>(column)[mine] = row[j];
        meet<kSide>();
        float4 four = column[j / 4];
        const float pivot = j % 4 == 0 ? four.x : j % 4 == 1 ? four.y : j % 4 == 2 ? four.z : four.w;
        const float inverse = rsqrtf(pivot);
        const float below = row[j] * inverse;
        // The update below / root * column needs no second division and no second barrier: the column in shared memory
        // is not divided yet.
        const float times = below * inverse;
        // The root of infinity is not infinity * 0.
        row[j] = mine > j ? below : mine == j ? root_of(pivot) : 0.0f;
#pragma unroll
        for (int k = j + 1; k < kSide; ++k) {
            if (k % 4 == 0) four = column[k / 4];
            row[k] -= times * (k % 4 == 0 ? four.x : k % 4 == 1 ? four.y : k % 4 == 2 ? four.z : four.w);
        }
    }

#pragma unroll
    for (int j = 0; j < kSide; j += 4)
        rows[group][mine][j / 4] = make_float4(row[j], row[j + 1], row[j + 2], row[j + 3]);
    meet<kSide>();
    if (!there) return;
#pragma unroll 8
    for (int i = 0; i < n; ++i)
        out[begin + i * n + mine] = reinterpret_cast<const float*>(rows[group][i])[mine];
}

// Any n: a block has a matrix and works on it in global memory.
__global__ void __launch_bounds__(kGeneralThreads) factor_large(const float* a, float* out, int64_t n) {
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    constexpr int kWarps = kGeneralThreads / 32;
    const float* from = a + blockIdx.x * n * n;
    float* low = out + blockIdx.x * n * n;
    for (int64_t i = warp; i < n; i += kWarps)
        for (int64_t k = lane; k < n; k += 32) low[i * n + k] = k <= i ? from[i * n + k] : 0.0f;
    for (int64_t j = 0; j < n; ++j) {
        __syncthreads();
        const float root = root_of(low[j * n + j]);
        __syncthreads();  // all have read the pivot
        if (threadIdx.x == 0) low[j * n + j] = root;
        for (int64_t i = j + 1 + threadIdx.x; i < n; i += kGeneralThreads) low[i * n + j] /= root;
        __syncthreads();
        for (int64_t i = j + 1 + warp; i < n; i += kWarps) {
            const float left = low[i * n + j];
            for (int64_t k = j + 1 + lane; k <= i; k += 32) low[i * n + k] -= left * low[k * n + j];
        }
    }
}

template <int kSide>
void launch(const float* a, float* out, int64_t batch, int64_t n) {
    constexpr int kOwn = kBlock<kSide>, kMatrices = kOwn / kSide;
    const auto blocks = static_cast<unsigned>((batch + kMatrices - 1) / kMatrices);
    factor<kSide><<<blocks, kOwn>>>(a, out, batch, static_cast<int>(n));
}

extern "C" void solve(const float* a, float* out, int64_t batch, int64_t n) {
    if (batch == 0 || n == 0) return;
    if (n <= 8)
        launch<8>(a, out, batch, n);
    else if (n <= 16)
        launch<16>(a, out, batch, n);
    else if (n <= 32)
        launch<32>(a, out, batch, n);
    else if (n <= kLargest)
        launch<kLargest>(a, out, batch, n);
    else
        factor_large<<<static_cast<unsigned>(batch), kGeneralThreads>>>(a, out, n);
}
