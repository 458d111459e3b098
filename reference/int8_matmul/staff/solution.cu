// Matrix multiplication of int8 on tensor cores (mma.sync): a block computes a 128 x 128 tile of out, each of its four
// warps 64 x 64 of it. Tensor cores want words of four neighbours along k. Rows of a have them; four rows of b are
// turned, byte by byte, on their way from memory to shared memory. While one step along k is multiplied, the next is on
// its way to registers.
#include <cstdint>
#include <cuda_runtime.h>

constexpr int kTile = 128;       // rows and columns of out per block
constexpr int kDepth = 64;       // how far along k per step
constexpr int kThreads = 128;    // four warps, 2 down and 2 across
constexpr int kQuads = kDepth / 4;  // words of four neighbours along k
constexpr int kDown = 4;         // pieces of 16 rows of a warp's part of out,
constexpr int kAcross = 8;       // and of 8 columns
constexpr int kPadLeft = 16;     // bytes: eight rows of 80 bytes lie in different banks
constexpr int kPadRight = 8;     // words: four rows of 136 words, eight words of each, lie in different banks
constexpr int kLefts = kTile * kDepth / 16 / kThreads;  // pieces of 16 bytes of a's tile that a thread fetches,
constexpr int kRights = kQuads * kTile / 4 / kThreads;  // and squares of 4 x 4 bytes of b's
constexpr int64_t kGroup = 16;   // rows of tiles that share columns of b in the L2 cache

// Four bytes from any place of an array, which begins at a multiple of 4 bytes: two aligned words, shifted. Nothing
// beyond the array's end is read.
__device__ unsigned word_at(const int8_t* array, int64_t place, int64_t size) {
    const int64_t aligned = place / 4 * 4;
    if (aligned + 8 <= size) {
        const unsigned* words = reinterpret_cast<const unsigned*>(array + aligned);
        return __funnelshift_r(words[0], words[1], static_cast<unsigned>(place % 4) * 8);
    }
    unsigned word = 0;
    for (int i = 0; i < 4; ++i)
        if (place + i < size) word |= static_cast<unsigned>(static_cast<uint8_t>(array[place + i])) << (8 * i);
    return word;
}

// 16 bytes of a row of a. Of what lies beyond the row they may hold anything: b has zeros there. kAligned: rows are a
// multiple of 16 bytes long.
template <bool kAligned>
__device__ uint4 left_piece(const int8_t* a, int64_t row, int64_t column, int64_t m, int64_t k) {
    if (row >= m || column >= k) return uint4{};
    const int64_t place = row * k + column;
    if constexpr (kAligned) return *reinterpret_cast<const uint4*>(a + place);
    return make_uint4(word_at(a, place, m * k), word_at(a, place + 4, m * k), word_at(a, place + 8, m * k),
                      word_at(a, place + 12, m * k));
}

// Four bytes of a row of b, and 0 below its last row. What lies beyond the row is multiplied and not stored. kAligned:
// rows are a multiple of 4 bytes long.
template <bool kAligned>
__device__ unsigned right_word(const int8_t* b, int64_t row, int64_t column, int64_t k, int64_t n) {
    if (row >= k || column >= n) return 0;
    const int64_t place = row * n + column;
    if constexpr (kAligned) return *reinterpret_cast<const unsigned*>(b + place);
    return word_at(b, place, k * n);
}

// rows[r] holds bytes (r, 0) to (r, 3); the result's words hold bytes (0, c) to (3, c).
__device__ uint4 turned(const unsigned (&rows)[4]) {
    const unsigned low01 = __byte_perm(rows[0], rows[1], 0x5140), high01 = __byte_perm(rows[0], rows[1], 0x7362);
    const unsigned low23 = __byte_perm(rows[2], rows[3], 0x5140), high23 = __byte_perm(rows[2], rows[3], 0x7362);
    return make_uint4(__byte_perm(low01, low23, 0x5410), __byte_perm(low01, low23, 0x7632),
                      __byte_perm(high01, high23, 0x5410), __byte_perm(high01, high23, 0x7632));
}

// Four pieces of 8 rows of 16 bytes: each lane has the address of a row. Lane l gets word l % 4 of row l / 4 of each.
__device__ void load_pieces(unsigned (&words)[4], const int8_t* row) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
                 : "r"(static_cast<unsigned>(__cvta_generic_to_shared(row)))
                 : "memory");
}

// sums[16 x 8] += left[16 x 32] * right[32 x 8], exactly.
__device__ void multiply(int (&sums)[4], const unsigned (&left)[4], const unsigned (&right)[2]) {
    asm volatile(
        "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+r"(sums[0]), "+r"(sums[1]), "+r"(sums[2]), "+r"(sums[3])
        : "r"(left[0]), "r"(left[1]), "r"(left[2]), "r"(left[3]), "r"(right[0]), "r"(right[1]));
}

// The part of the next two tiles that one thread carries from memory to shared memory.
struct Carried {
    uint4 left[kLefts];
    unsigned right[kRights][4];
};

template <bool kAligned>
__global__ void __launch_bounds__(kThreads, 2)
matmul(const int8_t* __restrict__ a, const int8_t* __restrict__ b, const float* __restrict__ row_scale,
       const float* __restrict__ col_scale, float* __restrict__ out, int64_t m, int64_t n, int64_t k, int64_t tiles_m,
       int64_t tiles_n) {
    // Two of each: one is multiplied while the other is filled. right[stage][q][c] has rows 4q to 4q + 3 of column c.
    __shared__ __align__(16) int8_t left[2][kTile][kDepth + kPadLeft];
    __shared__ __align__(16) unsigned right[2][kQuads][kTile + kPadRight];
    // A one-dimensional grid: its limit is 2^31 - 1 blocks, the other dimensions end at 65535.
    const int64_t first = blockIdx.x / (kGroup * tiles_n) * kGroup;
    const int64_t group = tiles_m - first < kGroup ? tiles_m - first : kGroup;
    const int64_t within = blockIdx.x % (kGroup * tiles_n);
    const int64_t row0 = (first + within % group) * kTile, column0 = within / group * kTile;
    const int thread = threadIdx.x, warp = thread / 32, lane = thread % 32;
    const int warp_row = warp / 2 * kDown * 16, warp_column = warp % 2 * kAcross * 8;

    const auto fetch = [&](int64_t start) {
        Carried it;
#pragma unroll
        for (int i = 0; i < kLefts; ++i) {
            const int piece = thread + i * kThreads;
            it.left[i] = left_piece<kAligned>(a, row0 + piece / 4, start + piece % 4 * 16, m, k);
        }
#pragma unroll
        for (int i = 0; i < kRights; ++i)
#pragma unroll
            for (int r = 0; r < 4; ++r)
                it.right[i][r] = right_word<kAligned>(b, start + (warp + i * 4) * 4 + r, column0 + lane * 4, k, n);
        return it;
    };
    const auto put = [&](int stage, const Carried& it) {
#pragma unroll
        for (int i = 0; i < kLefts; ++i) {
            const int piece = thread + i * kThreads;
            *reinterpret_cast<uint4*>(&left[stage][piece / 4][piece % 4 * 16]) = it.left[i];
        }
#pragma unroll
        for (int i = 0; i < kRights; ++i)
            *reinterpret_cast<uint4*>(&right[stage][warp + i * 4][lane * 4]) = turned(it.right[i]);
    };

    int sums[kDown][kAcross][4] = {};
    if (k > 0) put(0, fetch(0));
    __syncthreads();
    int stage = 0;
    for (int64_t start = 0; start < k; start += kDepth) {
        const bool more = start + kDepth < k;
        Carried next;
        if (more) next = fetch(start + kDepth);  // asked for here, needed only after the multiplications
#pragma unroll
        for (int d = 0; d < kDepth; d += 32) {
            unsigned mine[kDown][4];
#pragma unroll
            for (int i = 0; i < kDown; ++i)
                load_pieces(mine[i], &left[stage][warp_row + i * 16 + lane % 16][d + lane / 16 * 16]);
#pragma unroll
            for (int j = 0; j < kAcross; ++j) {
                const unsigned* column = &right[stage][d / 4 + lane % 4][warp_column + j * 8 + lane / 4];
                const unsigned theirs[2] = {column[0], column[4 * (kTile + kPadRight)]};
#pragma unroll
                for (int i = 0; i < kDown; ++i) multiply(sums[i][j], mine[i], theirs);
            }
        }
        if (more) put(stage ^ 1, next);
        __syncthreads();  // one barrier a step: the tile that was filled is not the one that was read
        stage ^= 1;
    }

    // A lane has two neighbours in a row of each piece, and two more eight rows below.
#pragma unroll
    for (int i = 0; i < kDown; ++i)
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            const int64_t row = row0 + warp_row + i * 16 + half * 8 + lane / 4;
            if (row >= m) continue;
            const float scale = row_scale[row];
            float* to = out + row * n;
#pragma unroll
            for (int j = 0; j < kAcross; ++j) {
                const int64_t column = column0 + warp_column + j * 8 + lane % 4 * 2;
                if (column >= n) continue;
                const float one = static_cast<float>(sums[i][j][half * 2]) * scale * col_scale[column];
                if constexpr (kAligned) {
                    const float two = static_cast<float>(sums[i][j][half * 2 + 1]) * scale * col_scale[column + 1];
                    *reinterpret_cast<float2*>(to + column) = make_float2(one, two);
                } else {
                    to[column] = one;
                    if (column + 1 < n)
                        to[column + 1] = static_cast<float>(sums[i][j][half * 2 + 1]) * scale * col_scale[column + 1];
                }
            }
        }
}

extern "C" void solve(const int8_t* a, const int8_t* b, const float* row_scale, const float* col_scale, float* out,
                      int64_t m, int64_t n, int64_t k) {
    if (m == 0 || n == 0) return;  // out is empty; k = 0 is not special: the sums stay 0 and are stored
    const int64_t tiles_m = (m + kTile - 1) / kTile, tiles_n = (n + kTile - 1) / kTile;
    const unsigned blocks = static_cast<unsigned>(tiles_m * tiles_n);
    if (k % 16 == 0 && n % 4 == 0)
        matmul<true><<<blocks, kThreads>>>(a, b, row_scale, col_scale, out, m, n, k, tiles_m, tiles_n);
    else
        matmul<false><<<blocks, kThreads>>>(a, b, row_scale, col_scale, out, m, n, k, tiles_m, tiles_n);
}
