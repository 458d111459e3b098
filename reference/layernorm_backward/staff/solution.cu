// Layer normalisation, backward: each matrix is read once, and the column sums are made along the way.
//
// A block walks through many rows, a thread always through the same columns of them: so the sums for dgamma and dbeta
// stay in registers, are written once per block, and a second kernel adds up what the blocks wrote. No atomics: the
// result is the same every time. Rows that are too long for registers are read twice, and their columns once more.
#include <cstdint>
#include <cuda_runtime.h>

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / 32;
constexpr int kMostOwn = 16;          // columns that one thread keeps: rows of up to 4096 elements
constexpr int64_t kMostParts = 1056;  // blocks that write sums: eight for each SM of a large GPU

struct Pair {
    float first, second;
};

// The sum of both numbers over the block, known to every thread.
__device__ Pair block_sum(Pair mine) {
    __shared__ Pair parts[kWarps];
    for (int offset = 16; offset > 0; offset /= 2) {
        mine.first += __shfl_xor_sync(0xffffffffu, mine.first, offset);
        mine.second += __shfl_xor_sync(0xffffffffu, mine.second, offset);
    }
    __syncthreads();  // somebody may still read the parts of the row before
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = mine;
    __syncthreads();
    Pair all = {0.0f, 0.0f};
    for (int i = 0; i < kWarps; ++i) {
        all.first += parts[i].first;
        all.second += parts[i].second;
    }
    return all;
}

// Own: columns per thread, known to the compiler, so that the arrays are registers. sums is [2, gridDim.x, cols].
template <int Own>
__global__ void __launch_bounds__(kThreads)
whole_rows(const float* __restrict__ dy, const float* __restrict__ x, const float* __restrict__ gamma,
           const float* __restrict__ mean, const float* __restrict__ rstd, float* __restrict__ dx,
           float* __restrict__ sums, int64_t rows, int64_t cols) {
    float own_dgamma[Own] = {}, own_dbeta[Own] = {}, weight[Own];
#pragma unroll
    for (int i = 0; i < Own; ++i) {
        const int64_t column = threadIdx.x + i * kThreads;
        weight[i] = column < cols ? gamma[column] : 0.0f;
    }
    for (int64_t row = blockIdx.x; row < rows; row += gridDim.x) {
        const float* gradients = dy + row * cols;  // 64 bits: rows * cols may exceed 2^31
        const float* values = x + row * cols;
        const float centre = mean[row], factor = rstd[row];
        float gradient[Own], normal[Own];
        // All loads first: the more of them are on their way at once, the less is waited for each.
#pragma unroll
        for (int i = 0; i < Own; ++i) {
            const int64_t column = threadIdx.x + i * kThreads;
            gradient[i] = column < cols ? gradients[column] : 0.0f;
            normal[i] = column < cols ? values[column] : 0.0f;
        }
        Pair moments = {0.0f, 0.0f};
#pragma unroll
        for (int i = 0; i < Own; ++i) {
            if (threadIdx.x + i * kThreads >= cols) continue;
            // First the difference, then the factor: x * rstd - mean * rstd would cancel where the mean is large.
            normal[i] = (normal[i] - centre) * factor;
            own_dgamma[i] += gradient[i] * normal[i];
            own_dbeta[i] += gradient[i];
            gradient[i] *= weight[i];
            moments.first += gradient[i];
            moments.second += gradient[i] * normal[i];
        }
        moments = block_sum(moments);
        moments.first /= cols;
        moments.second /= cols;
#pragma unroll
        for (int i = 0; i < Own; ++i) {
            const int64_t column = threadIdx.x + i * kThreads;
            if (column < cols)
                dx[row * cols + column] = factor * (gradient[i] - moments.first - normal[i] * moments.second);
        }
    }
#pragma unroll
    for (int i = 0; i < Own; ++i) {
        const int64_t column = threadIdx.x + i * kThreads;
        if (column < cols) {
            sums[blockIdx.x * cols + column] = own_dgamma[i];
            sums[(static_cast<int64_t>(gridDim.x) + blockIdx.x) * cols + column] = own_dbeta[i];
        }
    }
}

// dx of rows that do not fit into registers: one pass for the two sums, one that writes.
__global__ void long_rows(const float* dy, const float* x, const float* gamma, const float* mean, const float* rstd,
                          float* dx, int64_t rows, int64_t cols) {
    for (int64_t row = blockIdx.x; row < rows; row += gridDim.x) {
        const float* gradients = dy + row * cols;
        const float* values = x + row * cols;
        const float centre = mean[row], factor = rstd[row];
        Pair moments = {0.0f, 0.0f};
        for (int64_t i = threadIdx.x; i < cols; i += kThreads) {
            const float weighted = gradients[i] * gamma[i];
            moments.first += weighted;
            moments.second += weighted * ((values[i] - centre) * factor);
        }
        moments = block_sum(moments);
        moments.first /= cols;
        moments.second /= cols;
        for (int64_t i = threadIdx.x; i < cols; i += kThreads) {
            const float normal = (values[i] - centre) * factor;
            dx[row * cols + i] = factor * (gradients[i] * gamma[i] - moments.first - normal * moments.second);
        }
    }
}

// For long rows: block (i, j) adds up rows j, j + gridDim.y, ... of the i-th 256 columns.
__global__ void column_sums(const float* dy, const float* x, const float* mean, const float* rstd, float* sums,
                            int64_t rows, int64_t cols) {
    const int64_t column = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
    if (column >= cols) return;
    float own_dgamma = 0.0f, own_dbeta = 0.0f;
    for (int64_t row = blockIdx.y; row < rows; row += gridDim.y) {
        const float gradient = dy[row * cols + column];
        own_dgamma += gradient * ((x[row * cols + column] - mean[row]) * rstd[row]);
        own_dbeta += gradient;
    }
    sums[blockIdx.y * cols + column] = own_dgamma;
    sums[(static_cast<int64_t>(gridDim.y) + blockIdx.y) * cols + column] = own_dbeta;
}

// Adds up the parts: a block has 32 columns, and each of its 8 warps every eighth part of them.
__global__ void add_up(const float* sums, float* dgamma, float* dbeta, int64_t parts, int64_t cols) {
    __shared__ Pair partial[kWarps][32];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int64_t column = static_cast<int64_t>(blockIdx.x) * 32 + lane;
    Pair total = {0.0f, 0.0f};
    if (column < cols)
        for (int64_t part = warp; part < parts; part += kWarps) {
            total.first += sums[part * cols + column];
            total.second += sums[(parts + part) * cols + column];
        }
    partial[warp][lane] = total;
    __syncthreads();
    if (warp != 0 || column >= cols) return;
    for (int i = 1; i < kWarps; ++i) {
        total.first += partial[i][lane].first;
        total.second += partial[i][lane].second;
    }
    dgamma[column] = total.first;
    dbeta[column] = total.second;
}

extern "C" void solve(const float* dy, const float* x, const float* gamma, const float* mean, const float* rstd,
                      float* dx, float* dgamma, float* dbeta, int64_t rows, int64_t cols) {
    if (cols == 0) return;  // every output is empty; rows = 0 is not: dgamma and dbeta are zeros then
    const int64_t own = (cols + kThreads - 1) / kThreads;
    const int64_t most = own <= kMostOwn ? kMostParts : 64;
    const int64_t parts = rows < most ? rows : most;
    float* sums = nullptr;
    if (parts > 0) {
        // Ordered on the stream like a kernel: solve does not wait for it.
        cudaMallocAsync(reinterpret_cast<void**>(&sums), 2 * parts * cols * sizeof(float), 0);
        const unsigned blocks = static_cast<unsigned>(parts);
        if (own <= 1)
            whole_rows<1><<<blocks, kThreads>>>(dy, x, gamma, mean, rstd, dx, sums, rows, cols);
        else if (own <= 2)
            whole_rows<2><<<blocks, kThreads>>>(dy, x, gamma, mean, rstd, dx, sums, rows, cols);
        else if (own <= 4)
            whole_rows<4><<<blocks, kThreads>>>(dy, x, gamma, mean, rstd, dx, sums, rows, cols);
        else if (own <= 8)
            whole_rows<8><<<blocks, kThreads>>>(dy, x, gamma, mean, rstd, dx, sums, rows, cols);
        else if (own <= kMostOwn)
            whole_rows<kMostOwn><<<blocks, kThreads>>>(dy, x, gamma, mean, rstd, dx, sums, rows, cols);
        else {
            const unsigned row_blocks = static_cast<unsigned>(rows < (1 << 20) ? rows : (1 << 20));
            long_rows<<<row_blocks, kThreads>>>(dy, x, gamma, mean, rstd, dx, rows, cols);
            column_sums<<<dim3(static_cast<unsigned>(own), blocks), kThreads>>>(dy, x, mean, rstd, sums, rows, cols);
        }
    }
    // With no rows there are no parts, and the sums are the zeros that dgamma and dbeta shall be.
    add_up<<<static_cast<unsigned>((cols + 31) / 32), kThreads>>>(sums, dgamma, dbeta, parts, cols);
    if (sums != nullptr) cudaFreeAsync(sums, 0);
}
