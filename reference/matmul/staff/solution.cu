// Matrix multiplication: a block computes a square tile of out, a thread 8 x 8 (or 4 x 4) numbers of it in registers.
// While the block multiplies one pair of tiles from shared memory, the next pair is on its way from memory.
#include <cstdint>
#include <cuda_runtime.h>

constexpr int kThreads = 256;  // 16 x 16 threads share a tile
constexpr int kQuad = 64;      // 16 threads with four neighbours each
// Tiles are walked in groups of this many rows of tiles, so that blocks that run together share rows of a and columns
// of b in the L2 cache.
constexpr int64_t kTogether = 8;
// With fewer large tiles than this, some of a GPU's multiprocessors (some 130 of the largest) would have none or one.
constexpr int64_t kEnough = 256;

// Four neighbours in a row, of which `left` exist; 0 for those that do not. kAligned: rows begin at multiples of 16
// bytes and are multiples of four long, so that the four exist together or not at all.
template <bool kAligned>
__device__ float4 load4(const float* first, int64_t left) {
    if (kAligned) return left > 0 ? *reinterpret_cast<const float4*>(first) : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    return make_float4(left > 0 ? first[0] : 0.0f, left > 1 ? first[1] : 0.0f, left > 2 ? first[2] : 0.0f,
                       left > 3 ? first[3] : 0.0f);
}

template <bool kAligned>
__device__ void store4(float* first, const float* four, int64_t left) {
    if (kAligned) {
        if (left > 0) *reinterpret_cast<float4*>(first) = make_float4(four[0], four[1], four[2], four[3]);
    } else {
        if (left > 0) first[0] = four[0];
        if (left > 1) first[1] = four[1];
        if (left > 2) first[2] = four[2];
        if (left > 3) first[3] = four[3];
    }
}

// A thread's share of out: kQuads x kQuads squares of 4 x 4, kQuad apart, in a tile of 64 * kQuads.
template <int kQuads, bool kAligned>
__global__ void __launch_bounds__(kThreads, 2)
matmul(const float* a, const float* b, float* out, int64_t m, int64_t n, int64_t k, int64_t tiles_m, int64_t tiles_n) {
    constexpr int kTile = kQuad * kQuads;
    constexpr int kOwn = 4 * kQuads;
    // How far along k per step: so far that each thread brings four numbers of each tile.
    constexpr int kDepth = 4 * kThreads / kTile;
    // Two of each: one is read while the other is filled. a's tile lies transposed, so that a step along k reads
    // neighbours; 4 words more a row keep 16-byte alignment and spread its columns over the banks.
    __shared__ float left[2][kDepth][kTile + 4];
    __shared__ float right[2][kDepth][kTile];

    const int64_t group = blockIdx.x / (kTogether * tiles_n), place = blockIdx.x % (kTogether * tiles_n);
    const int64_t rest = tiles_m - group * kTogether, height = rest < kTogether ? rest : kTogether;
    const int64_t row0 = (group * kTogether + place % height) * kTile;
    const int64_t column0 = place / height * kTile;
    const int thread = threadIdx.x;

    // What this thread brings: four neighbours of a's tile and four of b's. What lies outside counts as 0, on both
    // sides, so that no 0 meets a NaN that is not ours.
    const int row_a = thread / (kDepth / 4), depth_a = thread % (kDepth / 4) * 4;
    const int depth_b = thread / (kTile / 4), column_b = thread % (kTile / 4) * 4;
    const float* next_a = a + (row0 + row_a) * k + depth_a;
    const float* next_b = b + depth_b * n + column0 + column_b;
    const bool in_a = row0 + row_a < m;
    const int64_t left_b = n - column0 - column_b;
    float4 from_a, from_b;
    const auto fetch = [&](int64_t start) {
        from_a = load4<kAligned>(next_a, in_a ? k - start - depth_a : 0);
        from_b = load4<kAligned>(next_b, start + depth_b < k ? left_b : 0);
        next_a += kDepth;
        next_b += kDepth * n;
    };
    const auto put = [&](int buffer) {
        left[buffer][depth_a][row_a] = from_a.x;
        left[buffer][depth_a + 1][row_a] = from_a.y;
        left[buffer][depth_a + 2][row_a] = from_a.z;
        left[buffer][depth_a + 3][row_a] = from_a.w;
        *reinterpret_cast<float4*>(&right[buffer][depth_b][column_b]) = from_b;
    };

    // A warp covers 4 x 8 places: its lanes read 4 and 8 neighbouring groups of four, each in one go.
    const int ty = thread / 64 * 4 + thread % 32 / 8, tx = thread / 32 % 2 * 8 + thread % 8;
    float total[kOwn][kOwn] = {};
    const int64_t steps = (k + kDepth - 1) / kDepth;
    if (steps > 0) {
        fetch(0);
        put(0);
    }
    __syncthreads();
    for (int64_t step = 0; step < steps; ++step) {
        const int buffer = static_cast<int>(step % 2);
        const bool more = step + 1 < steps;
        if (more) fetch((step + 1) * kDepth);  // needed only after the multiplications: they hide its latency
#pragma unroll
        for (int depth = 0; depth < kDepth; ++depth) {
            float mine[kOwn], theirs[kOwn];
#pragma unroll
            for (int q = 0; q < kQuads; ++q) {
                const float4 rows = *reinterpret_cast<const float4*>(&left[buffer][depth][q * kQuad + ty * 4]);
                const float4 columns = *reinterpret_cast<const float4*>(&right[buffer][depth][q * kQuad + tx * 4]);
                mine[q * 4] = rows.x, mine[q * 4 + 1] = rows.y, mine[q * 4 + 2] = rows.z, mine[q * 4 + 3] = rows.w;
                theirs[q * 4] = columns.x, theirs[q * 4 + 1] = columns.y;
                theirs[q * 4 + 2] = columns.z, theirs[q * 4 + 3] = columns.w;
            }
            // For 2 * kOwn numbers read from shared memory, kOwn * kOwn multiplications.
#pragma unroll
            for (int i = 0; i < kOwn; ++i)
#pragma unroll
                for (int j = 0; j < kOwn; ++j) total[i][j] = fmaf(mine[i], theirs[j], total[i][j]);
        }
        // The other buffer was read a step ago, and everybody has passed the barrier since: it may be filled.
        if (more) put(1 - buffer);
        __syncthreads();
    }

#pragma unroll
    for (int i = 0; i < kOwn; ++i)
#pragma unroll
        for (int q = 0; q < kQuads; ++q) {
            const int64_t row = row0 + i / 4 * kQuad + ty * 4 + i % 4, column = column0 + q * kQuad + tx * 4;
            store4<kAligned>(out + row * n + column, &total[i][q * 4], row < m ? n - column : 0);
        }
}

template <int kQuads>
void launch(const float* a, const float* b, float* out, int64_t m, int64_t n, int64_t k) {
    constexpr int64_t kTile = kQuad * kQuads;
    const int64_t tiles_m = (m + kTile - 1) / kTile, tiles_n = (n + kTile - 1) / kTile;
    // A one-dimensional grid: its limit is 2^31 - 1 blocks, the other dimensions end at 65535.
    const unsigned tiles = static_cast<unsigned>(tiles_m * tiles_n);
    if (n % 4 == 0 && k % 4 == 0)
        matmul<kQuads, true><<<tiles, kThreads>>>(a, b, out, m, n, k, tiles_m, tiles_n);
    else
        matmul<kQuads, false><<<tiles, kThreads>>>(a, b, out, m, n, k, tiles_m, tiles_n);
}

extern "C" void solve(const float* a, const float* b, float* out, int64_t m, int64_t n, int64_t k) {
    if (m == 0 || n == 0) return;  // out is empty; k = 0 is not special: the sums stay 0 and are stored
    if ((m + 127) / 128 * ((n + 127) / 128) >= kEnough)
        launch<2>(a, b, out, m, n, k);
    else
        launch<1>(a, b, out, m, n, k);
}
