// int4 weights times float16 activations on tensor cores. A warp has 32 rows of weights, which come in the background, four
// groups ahead; a block's warps share the activations. Scales are taken out of the sums, so no weight is rounded.
#include <cstddef>
#include <cstdint>
#include <cuda_fp16.h>
#include <cuda_pipeline.h>
#include <cuda_runtime.h>

constexpr int kGroup = 128;
constexpr int kGroupBytes = kGroup / 2;
constexpr int kThreads = 256;
constexpr int kWarps = kThreads / 32;
constexpr int kRows = 32;            // of weights per warp: two tiles of 16
constexpr int kBlockRows = kWarps * kRows;
constexpr int kStages = 4;           // groups of weights in shared memory: one in use, three on their way
constexpr int kChunk = 8;            // groups whose activations are in shared memory
constexpr int64_t kEnoughBlocks = 1024;

// The order of the terms is free, as long as weights and activations have the same. Lane 4 * r + c takes 32 neighbours of
// each group: 16 bytes of row r, and 64 bytes of token r. In each word of eight weights, one shift and one mask give
// weights i and i + 4 as a pair.
struct Shared {
    uint4 weights[kWarps][kStages][4][32];  // for each lane rows r, r + 8, r + 16, r + 24
    uint4 x[1];                             // [kChunk][token tiles][word][lane]: activations in the order of the weights
};

template <int kTokenTiles>
constexpr int kSharedBytes = offsetof(Shared, x) + kChunk * kTokenTiles * 4 * 32 * sizeof(uint4);

__device__ uint32_t as_bits(__half2 pair) { return *reinterpret_cast<uint32_t*>(&pair); }
__device__ __half2 as_pair(uint32_t bits) { return *reinterpret_cast<__half2*>(&bits); }
__device__ uint32_t word_of(const uint4& four, int i) { return i == 0 ? four.x : i == 1 ? four.y : i == 2 ? four.z : four.w; }

// Weights i and i + 4 of a word, minus the zero point, exactly. 0x6400 is 1024 in float16, and its last digit counts ones:
// with q + 8 in the low bits it is 1024 + q + 8. `word` holds q + 8, `zero` 1032 + the zero point.
__device__ uint32_t unpacked(uint32_t word, int i, __half2 zero) {
    return as_bits(__hsub2(as_pair((word >> (4 * i) & 0x000f000fu) | 0x64006400u), zero));
}

// sums[16 rows, 8 tokens] += a[16 rows, 16 terms] * b[16 terms, 8 tokens], in float32.
__device__ void multiply_add(float (&sums)[4], uint32_t a0, uint32_t a1, uint32_t a2, uint32_t a3, uint32_t b0, uint32_t b1) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
        : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
}

// The activations of up to kChunk groups; 0 for tokens and groups that do not exist.
template <int kTokenTiles>
__device__ void bring_x(uint4* to, const __half* x, int64_t m, int64_t groups, int64_t first, int64_t end) {
    constexpr int kEights = kChunk * kGroup / 8;
    for (int i = threadIdx.x; i < 8 * kTokenTiles * kEights; i += kThreads) {
        const int token = i / kEights, eight = i % kEights, group = eight / 16, part = eight % 16;
        uint4 eight_of_x = make_uint4(0, 0, 0, 0);
        if (token < m && first + group < end)
            eight_of_x = *reinterpret_cast<const uint4*>(x + (token * groups + first) * kGroup + 8 * eight);
        const uint4 pairs = make_uint4(__byte_perm(eight_of_x.x, eight_of_x.z, 0x5410),   // 0 and 4
                                       __byte_perm(eight_of_x.x, eight_of_x.z, 0x7632),   // 1 and 5
                                       __byte_perm(eight_of_x.y, eight_of_x.w, 0x5410),   // 2 and 6
                                       __byte_perm(eight_of_x.y, eight_of_x.w, 0x7632));  // 3 and 7
        const int word = part % 4, lane = token % 8 * 4 + part / 4;
        to[((group * kTokenTiles + token / 8) * 4 + word) * 32 + lane] = pairs;
    }
}

// A lane's scales and zero points of one group, of its four rows.
struct Factors {
    float scale[4];
    __half2 zero[4];
};

template <int kTokenTiles>
__global__ void __launch_bounds__(kThreads, 2)
multiply(const __half* x, const uint8_t* weights, const __half* scales, const int8_t* zeros, float* out, int64_t m,
         int64_t n, int64_t groups, int64_t block_groups) {
    extern __shared__ __align__(16) unsigned char memory[];
    Shared& shared = *reinterpret_cast<Shared*>(memory);
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, quarter = lane % 4;
    const int64_t first_row = static_cast<int64_t>(blockIdx.x) * kBlockRows + warp * kRows + lane / 4;
    const int64_t begin = blockIdx.y * block_groups, end = min(begin + block_groups, groups);
    int64_t blocks_of_row[4];  // the number of each row's first group
#pragma unroll
    for (int i = 0; i < 4; ++i) blocks_of_row[i] = min(first_row + 8 * i, n - 1) * groups;  // the last row again, not beyond

    const auto copy = [&](int64_t group) {
        if (group < end)
#pragma unroll
            for (int i = 0; i < 4; ++i)
                __pipeline_memcpy_async(&shared.weights[warp][(group - begin) % kStages][i][lane],
                                        weights + (blocks_of_row[i] + group) * kGroupBytes + 16 * quarter, 16);
        __pipeline_commit();
    };
    const auto factors_of = [&](int64_t group) {
        Factors found;
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            found.scale[i] = __half2float(scales[blocks_of_row[i] + group]);
            found.zero[i] = __half2half2(__int2half_rn(1032 + zeros[blocks_of_row[i] + group]));
        }
        return found;
    };

    float total[2][kTokenTiles][4] = {};
    for (int i = 0; i < kStages - 1; ++i) copy(begin + i);
    Factors next = factors_of(begin);
    for (int64_t chunk = begin; chunk < end; chunk += kChunk) {
        __syncthreads();  // nobody reads the chunk before any more
        bring_x<kTokenTiles>(shared.x, x, m, groups, chunk, end);
        __syncthreads();
        const int64_t chunk_end = min(chunk + kChunk, end);
        for (int64_t group = chunk; group < chunk_end; ++group) {
            copy(group + kStages - 1);
            const Factors factors = next;
            if (group + 1 < end) next = factors_of(group + 1);
            __pipeline_wait_prior(kStages - 1);  // a lane reads what it copied itself: no barrier
            uint4 packed[4];
#pragma unroll
            for (int i = 0; i < 4; ++i) packed[i] = shared.weights[warp][(group - begin) % kStages][i][lane];
            const uint4* mine = shared.x + (group - chunk) * kTokenTiles * 4 * 32 + lane;
            float sums[2][kTokenTiles][4] = {};
#pragma unroll
            for (int word = 0; word < 4; ++word) {
                uint4 b[kTokenTiles];
#pragma unroll
                for (int t = 0; t < kTokenTiles; ++t) b[t] = mine[(t * 4 + word) * 32];
#pragma unroll
                for (int tile = 0; tile < 2; ++tile) {
                    // Two's complement to q + 8: the highest bit of each weight changes.
                    const uint32_t upper = word_of(packed[2 * tile], word) ^ 0x88888888u;
                    const uint32_t lower = word_of(packed[2 * tile + 1], word) ^ 0x88888888u;
#pragma unroll
                    for (int i = 0; i < 4; i += 2) {
                        const uint32_t a0 = unpacked(upper, i, factors.zero[2 * tile]);
                        const uint32_t a1 = unpacked(lower, i, factors.zero[2 * tile + 1]);
                        const uint32_t a2 = unpacked(upper, i + 1, factors.zero[2 * tile]);
                        const uint32_t a3 = unpacked(lower, i + 1, factors.zero[2 * tile + 1]);
#pragma unroll
                        for (int t = 0; t < kTokenTiles; ++t)
                            multiply_add(sums[tile][t], a0, a1, a2, a3, word_of(b[t], i), word_of(b[t], i + 1));
                    }
                }
            }
#pragma unroll
            for (int tile = 0; tile < 2; ++tile)
#pragma unroll
                for (int t = 0; t < kTokenTiles; ++t)
#pragma unroll
                    for (int i = 0; i < 4; ++i)  // sums 0 and 1 are of row r, 2 and 3 of row r + 8
                        total[tile][t][i] = fmaf(factors.scale[2 * tile + i / 2], sums[tile][t][i], total[tile][t][i]);
        }
    }

#pragma unroll
    for (int tile = 0; tile < 2; ++tile)
#pragma unroll
        for (int t = 0; t < kTokenTiles; ++t)
#pragma unroll
            for (int i = 0; i < 4; ++i) {
                const int64_t row = first_row + 16 * tile + i / 2 * 8, token = 8 * t + 2 * quarter + i % 2;
                if (row >= n || token >= m) continue;
                if (gridDim.y == 1)
                    out[token * n + row] = total[tile][t][i];
                else
                    atomicAdd(out + token * n + row, total[tile][t][i]);
            }
}

template <int kTokenTiles>
void launch(const __half* x, const uint8_t* weights, const __half* scales, const int8_t* zeros, float* out, int64_t m,
            int64_t n, int64_t groups) {
    const int64_t row_blocks = (n + kBlockRows - 1) / kBlockRows, chunks = (groups + kChunk - 1) / kChunk;
    // Of few rows, several blocks share the groups and add up in memory.
    int64_t parts = kEnoughBlocks / row_blocks;
    if (parts > chunks) parts = chunks;
    if (parts < 1) parts = 1;
    const int64_t block_groups = (chunks + parts - 1) / parts * kChunk;
    parts = (groups + block_groups - 1) / block_groups;
    if (parts > 1) cudaMemsetAsync(out, 0, m * n * sizeof(float), 0);
    constexpr int kBytes = kSharedBytes<kTokenTiles>;
    cudaFuncSetAttribute(multiply<kTokenTiles>, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes);
    multiply<kTokenTiles><<<dim3(static_cast<unsigned>(row_blocks), static_cast<unsigned>(parts)), kThreads, kBytes>>>(
        x, weights, scales, zeros, out, m, n, groups, block_groups);
}

extern "C" void solve(const __half* x, const uint8_t* weights, const __half* scales, const int8_t* zeros, float* out,
                      int64_t m, int64_t n, int64_t groups) {
    if (m == 0 || n == 0) return;  // a grid of 0 blocks is a launch error
    if (groups == 0)
        cudaMemsetAsync(out, 0, m * n * sizeof(float), 0);  // an empty sum is 0
    else if (m <= 8)
        launch<1>(x, weights, scales, zeros, out, m, n, groups);
    else
        launch<2>(x, weights, scales, zeros, out, m, n, groups);
}
