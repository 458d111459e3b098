// Sparse matrix times dense matrix: a warp takes a few neighbouring rows, which have about 128 entries together, and reads
// these as they are stored. Then it takes its rows one after the other. What makes it fast:
// - Each entry needs a whole row of b, so nearly all traffic is b. Neighbouring lanes have neighbouring columns, and a
//   lane loads 16 bytes if n is a multiple of four.
// - b has few columns: a row of 32 numbers takes eight lanes. The warp then takes four entries of its row at once.
// - A lane has four rows of b on the way at once.
// - A block has 16 warps, whose rows are neighbours too. Near the diagonal they need the same rows of b, which the L1
//   cache still holds.
// - Rows too long for a warp are noted, and added up by the whole block when it is through with the others.
#include <cstdint>
#include <cuda_runtime.h>

constexpr unsigned kAll = 0xffffffffu;
constexpr int kWarps = 16;
constexpr int kThreads = 32 * kWarps;
constexpr int kChunk = 128;       // entries that a warp holds at once
constexpr int kAhead = 4;         // rows of b that a lane has on the way
constexpr int kMostRows = 16;     // rows of a warp
constexpr int64_t kLong = 2048;   // a row with more entries is worth a whole block
constexpr int kMostNoted = 64;    // such rows that a block can note; a warp adds up what is beyond
constexpr int kResident = 2;      // blocks that an SM shall hold: 64 registers are left for each thread

__device__ __forceinline__ void add(float& total, float weight, float of_b) { total += weight * of_b; }
__device__ __forceinline__ void add(float4& total, float weight, const float4& of_b) {
    total.x += weight * of_b.x, total.y += weight * of_b.y;
    total.z += weight * of_b.z, total.w += weight * of_b.w;
}

__device__ __forceinline__ float other_lanes(float mine, int distance) { return __shfl_xor_sync(kAll, mine, distance); }
__device__ __forceinline__ float4 other_lanes(const float4& mine, int distance) {
    return make_float4(other_lanes(mine.x, distance), other_lanes(mine.y, distance), other_lanes(mine.z, distance),
                       other_lanes(mine.w, distance));
}

struct Shared {
    int64_t places[kWarps][kChunk];  // where an entry's row of b begins, in pieces
    float weights[kWarps][kChunk];
    int64_t noted[kMostNoted];
    int count;  // rows that were to be noted: more than kMostNoted, perhaps
};

struct Matrix {
    const int64_t* row_ptr;
    const int64_t* col;
    const float* val;
    int64_t rows;
};

// kLanes lanes have the columns of a tile, kPer pieces each; 32 / kLanes teams of them take entries in turns. Piece:
// float4 if n is a multiple of four, else float. b, out and n are counted in pieces.
template <int kLanes, int kPer, typename Piece>
struct Team {
    static constexpr int kTeams = 32 / kLanes;
    const Matrix& matrix;
    const Piece* b;
    Piece* out;
    int64_t n, first;  // first: this lane's first piece
    int64_t* places;
    float* weights;
    int lane;

    __device__ bool inside(int p) const { return first + p * kLanes < n; }

    // Puts the entries [start, stop), kChunk at most, into the warp's shared memory.
    __device__ void bring(int64_t start, int64_t stop) const {
        int64_t column[kChunk / 32];
        float weight[kChunk / 32];
#pragma unroll
        for (int j = 0; j < kChunk / 32; ++j) {
            const int64_t i = start + j * 32 + lane;
            column[j] = i < stop ? matrix.col[i] : 0;
            weight[j] = i < stop ? matrix.val[i] : 0.0f;
        }
        __syncwarp();  // all lanes have read the entries before these
#pragma unroll
        for (int j = 0; j < kChunk / 32; ++j) {
            places[j * 32 + lane] = column[j] * n;
            weights[j * 32 + lane] = weight[j];
        }
        __syncwarp();
    }

    // Adds the entries [from, to) of those in shared memory.
    __device__ void add_entries(Piece (&total)[kPer], int from, int to) const {
        for (int i = from + lane / kLanes; i < to; i += kTeams * kAhead) {
            Piece there[kAhead][kPer];
            float weight[kAhead];
            // All loads first: the more of them are on their way at once, the less is waited for each.
#pragma unroll
            for (int a = 0; a < kAhead; ++a) {
                const int entry = i + a * kTeams;
                // An entry that does not exist is 0 times 0. It would be wrong to load some row of b: 0 * NaN is NaN.
                weight[a] = entry < to ? weights[entry] : 0.0f;
                const Piece* row = b + (entry < to ? places[entry] : 0) + first;
#pragma unroll
                for (int p = 0; p < kPer; ++p) there[a][p] = entry < to && inside(p) ? row[p * kLanes] : Piece{};
            }
#pragma unroll
            for (int a = 0; a < kAhead; ++a)
#pragma unroll
                for (int p = 0; p < kPer; ++p) add(total[p], weight[a], there[a][p]);
        }
    }

    // Adds up the teams; all lanes have the result.
    __device__ void meet(Piece (&total)[kPer]) const {
#pragma unroll
        for (int p = 0; p < kPer; ++p)
#pragma unroll
            for (int distance = kLanes; distance < 32; distance *= 2)
                add(total[p], 1.0f, other_lanes(total[p], distance));
    }

    __device__ void store(const Piece (&total)[kPer], int64_t row) const {
        if (lane >= kLanes) return;
#pragma unroll
        for (int p = 0; p < kPer; ++p)
            if (inside(p)) out[row * n + first + p * kLanes] = total[p];
    }

    // The rows from row0 + r on, up to row0 + end. Lane i has the row pointer of row0 + i.
    __device__ void rows_of(int64_t row0, int64_t pointer, int r, int end) const {
        const int64_t last = __shfl_sync(kAll, pointer, end);
        Piece total[kPer] = {};
        for (int64_t start = __shfl_sync(kAll, pointer, r);; start += kChunk) {
            const int64_t stop = start + kChunk < last ? start + kChunk : last;
            bring(start, stop);
            for (; r < end; ++r) {
                const int64_t row_begin = __shfl_sync(kAll, pointer, r), row_end = __shfl_sync(kAll, pointer, r + 1);
                add_entries(total, static_cast<int>(row_begin > start ? row_begin - start : 0),
                            static_cast<int>((row_end < stop ? row_end : stop) - start));
                if (row_end > stop) break;  // the row goes on in the next chunk
                meet(total);
                store(total, row0 + r);  // an empty row: the 0 that it began with
#pragma unroll
                for (int p = 0; p < kPer; ++p) total[p] = Piece{};
            }
            if (r == end) return;
        }
    }
};

// each: rows of a warp. A block has a tile of columns; the blocks of other tiles with the same rows follow at once.
template <int kLanes, int kPer, typename Piece>
__global__ void __launch_bounds__(kThreads, kResident)
multiply(Matrix matrix, const Piece* __restrict__ b, Piece* __restrict__ out, int64_t n, int64_t tiles, int each) {
    __shared__ __align__(16) Shared shared;
    if (threadIdx.x == 0) shared.count = 0;
    __syncthreads();

    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int64_t first = blockIdx.x % tiles * (kLanes * kPer) + lane % kLanes;
    const Team<kLanes, kPer, Piece> team = {matrix, b, out, n, first, shared.places[warp], shared.weights[warp], lane};
    const int64_t row0 = (blockIdx.x / tiles * kWarps + warp) * each;
    if (row0 < matrix.rows) {
        const int here = static_cast<int>(matrix.rows - row0 < each ? matrix.rows - row0 : each);
        const int64_t pointer = lane <= here ? matrix.row_ptr[row0 + lane] : 0;
        const int64_t length = __shfl_down_sync(kAll, pointer, 1) - pointer;
        if (!__any_sync(kAll, lane < here && length > kLong)) {
            team.rows_of(row0, pointer, 0, here);
        } else {
            for (int r = 0; r < here; ++r) {
                if (__shfl_sync(kAll, length, r) > kLong) {
                    int place = 0;
                    if (lane == 0) place = atomicAdd(&shared.count, 1);
                    place = __shfl_sync(kAll, place, 0);
                    if (place < kMostNoted) {
                        if (lane == 0) shared.noted[place] = row0 + r;
                        continue;
                    }
                }
                team.rows_of(row0, pointer, r, r + 1);
            }
        }
    }

    __syncthreads();  // all warps have noted what they found
    const int noted = shared.count < kMostNoted ? shared.count : kMostNoted;
    for (int i = 0; i < noted; ++i) {
        const int64_t row = shared.noted[i], end = matrix.row_ptr[row + 1];
        Piece total[kPer] = {};
        for (int64_t start = matrix.row_ptr[row] + warp * kChunk; start < end; start += kWarps * kChunk) {
            const int64_t stop = start + kChunk < end ? start + kChunk : end;
            team.bring(start, stop);
            team.add_entries(total, 0, static_cast<int>(stop - start));
        }
        team.meet(total);
        // The warps' sums go where the entries were.
        static_assert(sizeof(Piece) * kLanes * kPer <= sizeof(int64_t) * kChunk, "a warp's sum fits");
        __syncthreads();
        Piece* sums = reinterpret_cast<Piece*>(&shared.places[0][0]);
        if (lane < kLanes)
#pragma unroll
            for (int p = 0; p < kPer; ++p) sums[(warp * kPer + p) * kLanes + lane] = total[p];
        __syncthreads();
        if (warp == 0 && lane < kLanes) {
            for (int other = 1; other < kWarps; ++other)
#pragma unroll
                for (int p = 0; p < kPer; ++p) add(total[p], 1.0f, sums[(other * kPer + p) * kLanes + lane]);
            team.store(total, row);
        }
        __syncthreads();  // the next row's entries go where the sums are
    }
}

template <int kLanes, int kPer, typename Piece>
void launch(const Matrix& matrix, const float* b, float* out, int64_t nnz, int64_t n) {
    int device = 0, processors = 1;
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
    // As many rows as have a chunk of entries together; fewer if there are too few rows for all warps of the GPU.
    const int64_t mean = nnz / matrix.rows + 1, warps = static_cast<int64_t>(processors) * kResident * kWarps;
    int64_t each = kChunk / mean < kMostRows ? kChunk / mean : kMostRows;
    if (each > matrix.rows / warps) each = matrix.rows / warps;
    if (each < 1) each = 1;
    const int64_t pieces = n / static_cast<int64_t>(sizeof(Piece) / sizeof(float));
    const int64_t tiles = (pieces + kLanes * kPer - 1) / (kLanes * kPer);
    const int64_t blocks = (matrix.rows + each * kWarps - 1) / (each * kWarps) * tiles;
    multiply<kLanes, kPer, Piece><<<static_cast<unsigned>(blocks), kThreads>>>(
        matrix, reinterpret_cast<const Piece*>(b), reinterpret_cast<Piece*>(out), pieces, tiles, static_cast<int>(each));
}

extern "C" void solve(const int64_t* row_ptr, const int64_t* col, const float* val, const float* b, float* out,
                      int64_t rows, int64_t cols, int64_t nnz, int64_t n) {
    if (rows == 0 || n == 0) return;  // out is empty; nnz = 0 is not special
    const Matrix matrix = {row_ptr, col, val, rows};
    if (n % 4 == 0) {
        if (n <= 32) return launch<8, 1, float4>(matrix, b, out, nnz, n);
        if (n <= 64) return launch<16, 1, float4>(matrix, b, out, nnz, n);
        if (n <= 128) return launch<32, 1, float4>(matrix, b, out, nnz, n);
        return launch<32, 2, float4>(matrix, b, out, nnz, n);
    }
    // Rows of b begin at any multiple of 4 bytes.
    if (n <= 8) return launch<8, 1, float>(matrix, b, out, nnz, n);
    if (n <= 16) return launch<16, 1, float>(matrix, b, out, nnz, n);
    if (n <= 32) return launch<32, 1, float>(matrix, b, out, nnz, n);
    if (n <= 64) return launch<32, 2, float>(matrix, b, out, nnz, n);
    return launch<32, 4, float>(matrix, b, out, nnz, n);
}
