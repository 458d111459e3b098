// Sparse matrix times vector: a block takes 64 rows, multiplies all of their entries as they lie in memory, and only
// then asks which row each belongs to. However uneven the rows are, col and val are read in whole cache lines.
#include <cstdint>
#include <cuda_runtime.h>

constexpr int kThreads = 256;
constexpr int kRows = 64;                  // rows of a block
constexpr int kLanes = kThreads / kRows;   // threads that add up one row
constexpr int kOwn = 12;                   // entries per thread and step
constexpr int kChunk = kThreads * kOwn;    // products kept at once: 12 KiB of shared memory
constexpr int64_t kLong = 2 * kChunk;      // a row beyond this is worth a whole block
// Blocks that an SM shall hold. Not asked, the compiler aims at eight, and has no registers left for 12 loads at once.
constexpr int kResident = 4;

// The sum over the block; thread 0 has it.
__device__ float block_sum(float mine) {
    __shared__ float parts[kThreads / 32];
    for (int offset = 16; offset > 0; offset /= 2) mine += __shfl_xor_sync(0xffffffffu, mine, offset);
    __syncthreads();  // somebody may still read the parts of the row before
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = mine;
    __syncthreads();
    float all = 0.0f;
    for (int i = 0; i < kThreads / 32; ++i) all += parts[i];
    return all;
}

__global__ void __launch_bounds__(kThreads, kResident)
row_sums(const int64_t* __restrict__ row_ptr, const int64_t* __restrict__ col, const float* __restrict__ val,
         const float* __restrict__ x, float* __restrict__ out, int64_t rows) {
    __shared__ float products[kChunk];
    __shared__ int64_t starts[kRows + 1];
    const int64_t row0 = static_cast<int64_t>(blockIdx.x) * kRows;
    const int own_rows = static_cast<int>(rows - row0 < kRows ? rows - row0 : kRows);
    const int thread = threadIdx.x;
    if (thread <= own_rows) starts[thread] = row_ptr[row0 + thread];
    __syncthreads();

    // The answer is the same for all threads, so that all of them take the same branch.
    const bool is_long = thread < own_rows && starts[thread + 1] - starts[thread] > kLong;
    if (__syncthreads_or(is_long)) {
        // All threads add up one row after the other.
        for (int row = 0; row < own_rows; ++row) {
            float total = 0.0f;
            for (int64_t i = starts[row] + thread; i < starts[row + 1]; i += kThreads) total += val[i] * x[col[i]];
            total = block_sum(total);
            if (thread == 0) out[row0 + row] = total;
        }
        return;
    }

    const int64_t last = starts[own_rows];
    const int row = thread / kLanes, lane = thread % kLanes;
    float total = 0.0f;
    for (int64_t chunk = starts[0]; chunk < last; chunk += kChunk) {
        int64_t column[kOwn];
        float weight[kOwn];
        // All loads first: the more of them are on their way at once, the less is waited for each.
#pragma unroll
        for (int j = 0; j < kOwn; ++j) {
            const int64_t i = chunk + thread + j * kThreads;
            column[j] = i < last ? col[i] : 0;
            weight[j] = i < last ? val[i] : 0.0f;
        }
#pragma unroll
        for (int j = 0; j < kOwn; ++j) {
            const int64_t i = chunk + thread + j * kThreads;
            if (i < last) products[thread + j * kThreads] = weight[j] * x[column[j]];
        }
        __syncthreads();
        if (row < own_rows) {
            // What of this row lies in this chunk; nothing, where end <= begin.
            const int64_t begin = starts[row] - chunk, end = starts[row + 1] - chunk;
            const int from = static_cast<int>(begin > 0 ? begin : 0);
            const int to = static_cast<int>(end < kChunk ? end : kChunk);
            for (int i = from + lane; i < to; i += kLanes) total += products[i];
        }
        __syncthreads();  // nobody may write the next products while someone still reads these
    }
    for (int offset = kLanes / 2; offset > 0; offset /= 2) total += __shfl_xor_sync(0xffffffffu, total, offset);
    if (row < own_rows && lane == 0) out[row0 + row] = total;  // an empty row: the 0 that it began with
}

extern "C" void solve(const int64_t* row_ptr, const int64_t* col, const float* val, const float* x, float* out,
                      int64_t rows, int64_t cols, int64_t nnz) {
    if (rows == 0) return;  // out is empty; nnz = 0 is not special
    row_sums<<<static_cast<unsigned>((rows + kRows - 1) / kRows), kThreads>>>(row_ptr, col, val, x, out, rows);
}
