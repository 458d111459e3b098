// Sparse matrix times vector: a warp takes a few neighbouring rows, so few that they have some 300 entries together,
// multiplies all of these as they lie in memory, and only then asks which row each belongs to. However uneven the rows
// are, col and val are read in whole cache lines. What makes it fast:
// - A warp works by itself, with products of its own in shared memory. There is no barrier of the block at which warps
//   would wait for each other: while some of them add up, others load.
// - col and val are read by 16 bytes a thread, and do not stay in the L1 cache: nobody reads them again. So x stays,
//   of which neighbouring rows need the same elements again and again.
// - Warps stay. Each goes from group of rows to group of rows, and the row pointers of the next group are under way
//   while it works on this one: a group would otherwise begin with a wait for memory.
// - Rows too long for a warp are noted, and added up by the whole block when it is through with the others.
#include <cstdint>
#include <cuda_runtime.h>

constexpr unsigned kAll = 0xffffffffu;
constexpr int kThreads = 128;
constexpr int kWarps = kThreads / 32;
constexpr int kOwn = 12;               // entries per thread and step
constexpr int kChunk = 32 * kOwn;      // products that a warp keeps at once: 1.5 KiB of shared memory
constexpr int64_t kLong = 8 * kChunk;  // a row beyond this is worth a whole block
constexpr int kMostNoted = 64;         // such rows that a block can note; a warp adds up what is beyond
constexpr int kResident = 8;           // blocks that an SM shall hold: 64 registers are left for each thread
constexpr int kWaves = 8;              // blocks to be launched for each of those: rows differ, so some take longer

// Loads that leave no trace in the L1 cache. CUDA has no function for them; these are instructions of PTX.
__device__ __forceinline__ longlong2 load_once(const longlong2* p) {
    longlong2 two;
    asm volatile("ld.global.nc.L1::no_allocate.v2.s64 {%0, %1}, [%2];" : "=l"(two.x), "=l"(two.y) : "l"(p));
    return two;
}
__device__ __forceinline__ float4 load_once(const float4* p) {
    float4 four;
    asm volatile("ld.global.nc.L1::no_allocate.v4.f32 {%0, %1, %2, %3}, [%4];"
                 : "=f"(four.x), "=f"(four.y), "=f"(four.z), "=f"(four.w)
                 : "l"(p));
    return four;
}

// Four columns and four values; p is a multiple of 16 bytes.
template <typename Index>
__device__ __forceinline__ void load_four(Index* to, const int64_t* p) {
    const longlong2 a = load_once(reinterpret_cast<const longlong2*>(p));
    const longlong2 b = load_once(reinterpret_cast<const longlong2*>(p) + 1);
    to[0] = static_cast<Index>(a.x), to[1] = static_cast<Index>(a.y);
    to[2] = static_cast<Index>(b.x), to[3] = static_cast<Index>(b.y);
}
__device__ __forceinline__ void load_four(float* to, const float* p) {
    const float4 four = load_once(reinterpret_cast<const float4*>(p));
    to[0] = four.x, to[1] = four.y, to[2] = four.z, to[3] = four.w;
}

// The sum over the warp; all lanes have it.
__device__ __forceinline__ float warp_sum(float mine) {
#pragma unroll
    for (int offset = 16; offset > 0; offset /= 2) mine += __shfl_xor_sync(kAll, mine, offset);
    return mine;
}

// kRows: rows of a warp's group, chosen by how long rows are on average. Index: uint32_t where it holds all columns,
// as kOwn of them are kept in registers, and a number of 64 bits takes two.
template <int kRows, typename Index>
__global__ void __launch_bounds__(kThreads, kResident)
row_sums(const int64_t* __restrict__ row_ptr, const int64_t* __restrict__ col, const float* __restrict__ val,
         const float* __restrict__ x, float* __restrict__ out, int64_t rows, int64_t nnz) {
    constexpr int kLanes = 32 / kRows;  // lanes that add up one row
    static_assert(kRows < 32, "lane kRows must exist: it has the end of the group's last row");
    __shared__ __align__(16) float products_of_all[kWarps][kChunk];
    __shared__ int64_t noted[kMostNoted];
    __shared__ int count;  // rows that were to be noted: more than kMostNoted, perhaps
    __shared__ float parts[kWarps];
    if (threadIdx.x == 0) count = 0;
    __syncthreads();

    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    float* products = products_of_all[warp];
    const int row = lane / kLanes, part = lane % kLanes;
    const int64_t stride = static_cast<int64_t>(gridDim.x) * kWarps * kRows;
    int64_t row0 = (static_cast<int64_t>(blockIdx.x) * kWarps + warp) * kRows;
    // Lane i has the row pointer i of the group. Rows that do not exist begin and end at nnz: they are empty.
    int64_t mine = lane <= kRows && row0 + lane <= rows ? row_ptr[row0 + lane] : nnz;
    for (; row0 < rows; row0 += stride) {
        const int64_t begin = __shfl_sync(kAll, mine, row), end = __shfl_sync(kAll, mine, row + 1);
        const int64_t first = __shfl_sync(kAll, mine, 0), last = __shfl_sync(kAll, mine, kRows);
        const int64_t next = row0 + stride + lane;  // of the next group, wanted only in the next turn
        mine = lane <= kRows && next <= rows ? row_ptr[next] : nnz;

        if (last - first > kLong) {  // the same for the whole warp
            // One row after the other; those that are long by themselves are left to the block, if it can note them.
            for (int r = 0; r < kRows && row0 + r < rows; ++r) {
                const int64_t from = __shfl_sync(kAll, begin, r * kLanes);
                const int64_t to = __shfl_sync(kAll, end, r * kLanes);
                if (to - from > kLong) {
                    int place = 0;
                    if (lane == 0) place = atomicAdd(&count, 1);
                    place = __shfl_sync(kAll, place, 0);
                    if (place < kMostNoted) {
                        if (lane == 0) noted[place] = row0 + r;
                        continue;
                    }
                }
                float total = 0.0f;
#pragma unroll 4
                for (int64_t i = from + lane; i < to; i += 32) total += val[i] * x[col[i]];
                total = warp_sum(total);
                if (lane == 0) out[row0 + r] = total;
            }
            continue;
        }

        float total = 0.0f;
        // From here on entries are counted from `base`, in 32 bits. It is a multiple of four, for loads of 16 bytes: up
        // to three entries of the group before are multiplied with these, but nobody adds up their products.
        const int64_t base = first & ~static_cast<int64_t>(3);
        const int own_begin = static_cast<int>(begin - base), own_end = static_cast<int>(end - base);
        const int all = static_cast<int>(last - base);
        // The last four may go beyond the group in the same way, but not beyond the arrays.
        const int readable = nnz - base < all + 3 ? static_cast<int>(nnz - base) : all + 3;
        const int64_t* col_here = col + base;
        const float* val_here = val + base;
        for (int chunk = 0; chunk < all; chunk += kChunk) {
            Index column[kOwn];
            float weight[kOwn];
            // All loads first: the more of them are on their way at once, the less is waited for each.
#pragma unroll
            for (int j = 0; j < kOwn; j += 4) {
                const int i = chunk + lane * 4 + j * 32;
                if (i < all && i + 3 < readable) {
                    load_four(column + j, col_here + i);
                    load_four(weight + j, val_here + i);
                } else {  // beyond the group, or at the end of the arrays
#pragma unroll
                    for (int k = 0; k < 4; ++k) {
                        column[j + k] = i + k < all ? static_cast<Index>(col_here[i + k]) : 0;
                        weight[j + k] = i + k < all ? val_here[i + k] : 0.0f;
                    }
                }
            }
            __syncwarp();  // all lanes have read the products before these
#pragma unroll
            for (int j = 0; j < kOwn; j += 4) {
                const int i = lane * 4 + j * 32;
                if (chunk + i < all)
                    *reinterpret_cast<float4*>(products + i) =
                        make_float4(weight[j] * x[column[j]], weight[j + 1] * x[column[j + 1]],
                                    weight[j + 2] * x[column[j + 2]], weight[j + 3] * x[column[j + 3]]);
            }
            __syncwarp();
            // What of this lane's row lies in this chunk; nothing, where to <= from.
            const int from = own_begin > chunk ? own_begin - chunk : 0;
            const int to = own_end - chunk < kChunk ? own_end - chunk : kChunk;
            for (int i = from + part; i < to; i += kLanes) total += products[i];
        }
        __syncwarp();
#pragma unroll
        for (int offset = kLanes / 2; offset > 0; offset /= 2) total += __shfl_xor_sync(kAll, total, offset);
        if (part == 0 && row0 + row < rows) out[row0 + row] = total;  // an empty row: the 0 that it began with
    }

    __syncthreads();  // all warps have noted what they found
    const int noted_rows = count < kMostNoted ? count : kMostNoted;
    for (int n = 0; n < noted_rows; ++n) {
        const int64_t from = row_ptr[noted[n]], to = row_ptr[noted[n] + 1];
        float total = 0.0f;
#pragma unroll 4
        for (int64_t i = from + threadIdx.x; i < to; i += kThreads) total += val[i] * x[col[i]];
        total = warp_sum(total);
        __syncthreads();  // thread 0 may still read the parts of the row before
        if (lane == 0) parts[warp] = total;
        __syncthreads();
        if (threadIdx.x == 0) {
            float all = 0.0f;
            for (int i = 0; i < kWarps; ++i) all += parts[i];
            out[noted[n]] = all;
        }
    }
}

template <int kRows>
void launch(const int64_t* row_ptr, const int64_t* col, const float* val, const float* x, float* out, int64_t rows,
            int64_t cols, int64_t nnz) {
    int device = 0, processors = 1;
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
    const int64_t most = static_cast<int64_t>(processors) * kResident * kWaves;
    int64_t blocks = (rows + kRows * kWarps - 1) / (kRows * kWarps);
    if (blocks > most) blocks = most;
    if (cols <= (int64_t{1} << 32))
        row_sums<kRows, uint32_t><<<static_cast<unsigned>(blocks), kThreads>>>(row_ptr, col, val, x, out, rows, nnz);
    else
        row_sums<kRows, int64_t><<<static_cast<unsigned>(blocks), kThreads>>>(row_ptr, col, val, x, out, rows, nnz);
}

extern "C" void solve(const int64_t* row_ptr, const int64_t* col, const float* val, const float* x, float* out,
                      int64_t rows, int64_t cols, int64_t nnz) {
    if (rows == 0) return;  // out is empty; nnz = 0 is not special
    // As many rows as have about a chunk of entries together. Better a few less: one entry beyond takes a second step.
    const int64_t mean = nnz / rows;
    if (mean <= 19) return launch<16>(row_ptr, col, val, x, out, rows, cols, nnz);
    if (mean <= 42) return launch<8>(row_ptr, col, val, x, out, rows, cols, nnz);
    if (mean <= 84) return launch<4>(row_ptr, col, val, x, out, rows, cols, nnz);
    if (mean <= 250) return launch<2>(row_ptr, col, val, x, out, rows, cols, nnz);
    launch<1>(row_ptr, col, val, x, out, rows, cols, nnz);
}
