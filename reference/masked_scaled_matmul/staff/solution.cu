// Masked and scaled matrix product: a block computes a 128 x 128 tile of out, a thread 8 x 8 of it in registers. While one
// step along k is multiplied from shared memory, the next is on its way to registers. Mask and scale cost nothing: they
// are applied to the sums before these are stored.
#include <cstdint>
#include <cuda_runtime.h>

constexpr int kTile = 128;      // rows and columns of out per block
constexpr int kDepth = 16;      // how far along k per step
constexpr int kThreads = 256;   // 16 x 16, each with 8 x 8 elements
constexpr int kOwn = 8;
constexpr int kPad = 4;         // keeps the transposed stores of a's tile from meeting in one bank
constexpr int kQuadsEach = kTile * kDepth / 4 / kThreads;  // float4 of each tile that a thread fetches

// Four neighbours in a row of a matrix; what lies outside counts as 0. kQuads: rows are a multiple of four long, so a
// quad lies inside or outside as a whole, and at a multiple of 16 bytes.
template <bool kQuads>
__device__ float4 load_quad(const float* matrix, int64_t row, int64_t column, int64_t rows, int64_t columns) {
    if (row >= rows || column >= columns) return float4{};
    const float* at = matrix + row * columns + column;
    if constexpr (kQuads) {
        return *reinterpret_cast<const float4*>(at);
    } else {
        const int64_t there = columns - column;
        return make_float4(at[0], there > 1 ? at[1] : 0.0f, there > 2 ? at[2] : 0.0f, there > 3 ? at[3] : 0.0f);
    }
}

// The part of the next two tiles that one thread carries from memory to shared memory.
struct Carried {
    float4 left[kQuadsEach];
    float4 right[kQuadsEach];
};

template <bool kQuads>
__global__ void __launch_bounds__(kThreads, 2)
masked_matmul(const float* a, const float* b, const uint8_t* mask, float* out, float scale, int64_t m, int64_t n,
              int64_t k, int64_t tiles_n) {
    // a's tile is stored transposed, so that one step along k reads neighbours. Two of each: one is read while the other
    // is filled.
    __shared__ __align__(16) float left[2][kDepth][kTile + kPad];
    __shared__ __align__(16) float right[2][kDepth][kTile];
    // A one-dimensional grid: its limit is 2^31 - 1 blocks, the other dimensions end at 65535.
    const int64_t row0 = blockIdx.x / tiles_n * kTile;
    const int64_t column0 = blockIdx.x % tiles_n * kTile;
    const int thread = threadIdx.x;
    // A thread owns two groups of four rows and two of four columns, half a tile apart: its reads are whole float4, and
    // those of its neighbours lie beside them.
    const int ty = thread / 16 * 4, tx = thread % 16 * 4;

    const auto fetch = [&](int64_t start) {
        Carried it;
#pragma unroll
        for (int i = 0; i < kQuadsEach; ++i) {
            const int quad = thread + i * kThreads;
            it.left[i] = load_quad<kQuads>(a, row0 + quad / 4, start + quad % 4 * 4, m, k);
            it.right[i] = load_quad<kQuads>(b, start + quad / 32, column0 + quad % 32 * 4, k, n);
        }
        return it;
    };
    const auto put = [&](int stage, const Carried& it) {
#pragma unroll
        for (int i = 0; i < kQuadsEach; ++i) {
            const int quad = thread + i * kThreads, row = quad / 4, depth = quad % 4 * 4;
            left[stage][depth][row] = it.left[i].x;
            left[stage][depth + 1][row] = it.left[i].y;
            left[stage][depth + 2][row] = it.left[i].z;
            left[stage][depth + 3][row] = it.left[i].w;
            *reinterpret_cast<float4*>(&right[stage][quad / 32][quad % 32 * 4]) = it.right[i];
        }
    };

    float total[kOwn][kOwn] = {};
    if (k > 0) put(0, fetch(0));
    __syncthreads();
    int stage = 0;
    for (int64_t start = 0; start < k; start += kDepth) {
        const bool more = start + kDepth < k;
        Carried next;
        if (more) next = fetch(start + kDepth);  // asked for here, needed only after the multiplications
#pragma unroll
        for (int d = 0; d < kDepth; ++d) {
            float mine[kOwn], theirs[kOwn];
#pragma unroll
            for (int half = 0; half < 2; ++half) {
                const float4 down = *reinterpret_cast<const float4*>(&left[stage][d][half * kTile / 2 + ty]);
                const float4 across = *reinterpret_cast<const float4*>(&right[stage][d][half * kTile / 2 + tx]);
                mine[half * 4] = down.x, mine[half * 4 + 1] = down.y;
                mine[half * 4 + 2] = down.z, mine[half * 4 + 3] = down.w;
                theirs[half * 4] = across.x, theirs[half * 4 + 1] = across.y;
                theirs[half * 4 + 2] = across.z, theirs[half * 4 + 3] = across.w;
            }
#pragma unroll
            for (int i = 0; i < kOwn; ++i)
#pragma unroll
                for (int j = 0; j < kOwn; ++j) total[i][j] += mine[i] * theirs[j];
        }
        if (more) put(stage ^ 1, next);
        __syncthreads();  // one barrier a step: the tile that was filled is not the one that was read
        stage ^= 1;
    }

#pragma unroll
    for (int i = 0; i < kOwn; ++i) {
        const int64_t row = row0 + i / 4 * (kTile / 2) + ty + i % 4;
        if (row >= m) continue;
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            const int64_t column = column0 + half * (kTile / 2) + tx;
            const int64_t at = row * n + column;
            const float* sums = &total[i][half * 4];
            // Chosen, not multiplied: NaN * 0 would be NaN, and a mask of 255 is no factor.
            if constexpr (kQuads) {
                if (column >= n) continue;
                const uchar4 keep = *reinterpret_cast<const uchar4*>(mask + at);
                *reinterpret_cast<float4*>(out + at) =
                    make_float4(keep.x ? sums[0] * scale : 0.0f, keep.y ? sums[1] * scale : 0.0f,
                                keep.z ? sums[2] * scale : 0.0f, keep.w ? sums[3] * scale : 0.0f);
            } else {
#pragma unroll
                for (int j = 0; j < 4; ++j)
                    if (column + j < n) out[at + j] = mask[at + j] ? sums[j] * scale : 0.0f;
            }
        }
    }
}

extern "C" void solve(const float* a, const float* b, const uint8_t* mask, float* out, float scale, int64_t m, int64_t n,
                      int64_t k) {
    if (m == 0 || n == 0) return;  // out is empty; k = 0 is not special: the sums stay 0 and are stored
    const int64_t tiles_m = (m + kTile - 1) / kTile, tiles_n = (n + kTile - 1) / kTile;
    const unsigned blocks = static_cast<unsigned>(tiles_m * tiles_n);
    if (k % 4 == 0 && n % 4 == 0)
        masked_matmul<true><<<blocks, kThreads>>>(a, b, mask, out, scale, m, n, k, tiles_n);
    else
        masked_matmul<false><<<blocks, kThreads>>>(a, b, mask, out, scale, m, n, k, tiles_n);
}
