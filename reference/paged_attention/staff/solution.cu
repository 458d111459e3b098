// Decoding with paged caches: each key and value is read once, for all queries of its group, and straight from memory into
// the registers in which tensor cores want it.
//
// A warp takes 16 keys at a time. Half of its lanes find a key's slot each, one step ahead: the table is read while the keys
// before are on their way, and the slots go from lane to lane by shuffles. For mma.sync a lane needs certain places of each
// tile; which dimension of the head a place stands for is free, as long as both factors agree. They are numbered so that
// what a lane needs is 16 bytes of one key, and four or eight lanes together read 64 or 128 bytes in a row:
// - scores = q k^T: lane 4 * g + t has the dimensions 8 * t to 8 * t + 7 of each 32, of key g.
// - result = weights v: lane 4 * g + t has the dimensions 8 * g to 8 * g + 7 of each 64, of keys 2 * t and 2 * t + 1.
// The weights need no move at all: the lane that gets two scores from the first product holds them for the second.
//
// Long sequences are cut into parts, a block each, or a batch of one would use one SM per head. Each part leaves its
// highest score, its sum and its result, and a second kernel puts them together.
#include <cmath>
#include <cstdint>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

constexpr unsigned kAll = 0xffffffffu;
constexpr int kWarps = 4;
constexpr int kThreads = 32 * kWarps;
constexpr int kKeys = 16;                      // keys of a warp's step
constexpr int kQueries = 16;                   // rows of a tensor core's tile
constexpr int64_t kShortest = 512;             // a part has at least this many keys
constexpr int kMostParts = 512;                // threads of the second kernel
constexpr int64_t kWaves = 4;                  // blocks to launch for each that can run at once: lengths differ
constexpr int kResident = 3;                   // blocks that an SM holds; 2 if 64 sums are in a lane's registers
constexpr float kLift = 8.0f;                  // weights are up to 2^8: below 6e-5 float16 has fewer digits
constexpr float kLog2E = 1.4426950408889634f;  // exp(x) = 2^(x * log2(e)): powers of 2 are what hardware has

struct Sizes {
    int64_t kv_heads, group, max_pages;
    unsigned page_size;
    int dim;
    int64_t tiles;       // of kQueries queries, in a group
    int64_t parts, each;  // each: keys of a part, a multiple of kKeys * kWarps
    float factor;        // scale * log2(e)
};

// d += a b: a has 16 queries, b has eight keys or eight dimensions. kBoth: the queries 8 to 15 exist.
template <bool kBoth>
__device__ __forceinline__ void multiply(float (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
    if constexpr (kBoth) {
        asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
            "{%0, %1, %2, %3};"
            : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
    } else {  // their sums are 0, and take no registers
        float none0, none1;
        asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
            "{%0, %1, %10, %11};"
            : "+f"(d[0]), "+f"(d[1]), "=f"(none0), "=f"(none1)
            : "r"(a[0]), "r"(0u), "r"(a[2]), "r"(0u), "r"(b0), "r"(b1), "f"(0.0f), "f"(0.0f));
    }
}

__device__ __forceinline__ uint32_t pair(__half low, __half high) {
    const __half2 both = __halves2half2(low, high);
    return *reinterpret_cast<const uint32_t*>(&both);
}

// The low or high halves of two words, next to each other.
__device__ __forceinline__ uint32_t low_halves(uint32_t a, uint32_t b) { return __byte_perm(a, b, 0x5410); }
__device__ __forceinline__ uint32_t high_halves(uint32_t a, uint32_t b) { return __byte_perm(a, b, 0x7632); }

__device__ __forceinline__ uint4 bring(const __half* from, bool there) {
    return there ? __ldcs(reinterpret_cast<const uint4*>(from)) : make_uint4(0, 0, 0, 0);
}

// Over the four lanes that have a query.
__device__ __forceinline__ float max_of_four(float value) {
    value = fmaxf(value, __shfl_xor_sync(kAll, value, 1));
    return fmaxf(value, __shfl_xor_sync(kAll, value, 2));
}
__device__ __forceinline__ float sum_of_four(float value) {
    value += __shfl_xor_sync(kAll, value, 1);
    return value + __shfl_xor_sync(kAll, value, 2);
}

// What to subtract. -inf - -inf would be NaN; while there is nothing but -inf, 0 gives the right powers.
__device__ __forceinline__ float reference_of(float highest) { return highest == -INFINITY ? 0.0f : highest; }

// What a warp, a block or a part knows of a query: exponents to base 2.
struct Running {
    float highest, total;
};

// kDims: dim, rounded up to 64 or 128. partial and known: [sequences, q_heads, parts, dim] and [sequences, q_heads, parts].
template <int kDims, bool kBoth>
__global__ void __launch_bounds__(kThreads, kBoth ? 2 : kResident)
attend(const __half* __restrict__ q, const __half* __restrict__ k_pages, const __half* __restrict__ v_pages,
       const int* __restrict__ table, const int* __restrict__ lengths, __half* __restrict__ out,
       float* __restrict__ partial, Running* __restrict__ known, Sizes sizes) {
    constexpr int kRows = kBoth ? 2 : 1;  // queries of a lane: g and g + 8
    constexpr int kChunks = kDims / 32, kHalves = kDims / 64;
    __shared__ float results[kWarps][kQueries][kDims + 1];
    __shared__ Running warps[kWarps][kQueries];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, g = lane / 4, t = lane % 4, dim = sizes.dim;
    const int64_t part = blockIdx.x % sizes.parts, tile = blockIdx.x / sizes.parts % sizes.tiles;
    const int64_t head = blockIdx.x / sizes.parts / sizes.tiles, sequence = head / sizes.kv_heads;
    const int64_t length = lengths[sequence], begin = part * sizes.each;
    // Query heads of a group follow each other, so this is the same as [sequences, kv_heads, group].
    const int64_t query0 = head * sizes.group + tile * kQueries;
    const int queries = static_cast<int>(sizes.group - tile * kQueries < kQueries ? sizes.group - tile * kQueries : kQueries);
    if (begin >= length) {  // the second kernel does not ask for this part
        if (sizes.parts == 1)  // no key counts
            for (int i = threadIdx.x; i < queries * dim; i += kThreads) out[query0 * dim + i] = __float2half(0.0f);
        return;
    }
    const int64_t end = begin + sizes.each < length ? begin + sizes.each : length;

    uint32_t own[2 * kChunks][4] = {};
#pragma unroll
    for (int c = 0; c < kChunks; ++c)
#pragma unroll
        for (int r = 0; r < kRows; ++r) {
            const int d = 32 * c + 8 * t, row = g + 8 * r;
            const uint4 eight = row < queries && d < dim ? *reinterpret_cast<const uint4*>(q + (query0 + row) * dim + d)
                                                         : make_uint4(0, 0, 0, 0);
            own[2 * c][r] = eight.x, own[2 * c][r + 2] = eight.y;
            own[2 * c + 1][r] = eight.z, own[2 * c + 1][r + 2] = eight.w;
        }

    k_pages += head % sizes.kv_heads * dim, v_pages += head % sizes.kv_heads * dim;  // of slot 0
    const unsigned stride = static_cast<unsigned>(sizes.kv_heads) * dim;             // from a slot to the next
    const int* pages = table + sequence * sizes.max_pages;
    // The slot of key `first + lane % 16`, counted through all pages. Lanes without a key have slot 0, which they do not
    // read.
    const auto slot_of = [&](int64_t first) {
        const int64_t key = first + lane % kKeys;
        if (key >= end) return 0u;
        const unsigned number = static_cast<unsigned>(key), page = number / sizes.page_size;
        return static_cast<unsigned>(pages[page]) * sizes.page_size + number % sizes.page_size;
    };
    unsigned next = slot_of(begin + warp * kKeys);
    float result[8 * kHalves][4] = {}, highest[kRows], total[kRows] = {};
    for (int r = 0; r < kRows; ++r) highest[r] = -INFINITY;
    for (int64_t first = begin + warp * kKeys; first < end; first += kWarps * kKeys) {
        const int left = static_cast<int>(end - first < kKeys ? end - first : kKeys);
        const unsigned slot = next;
        // 64 bits: caches may have more than 2^31 elements.
        const auto place_of = [&](int key) { return static_cast<uint64_t>(__shfl_sync(kAll, slot, key)) * stride; };
        // All loads first. A key that does not count is not read: 0 times whatever is there may be NaN.
        uint4 of_k[2][kChunks], of_v[4][kHalves];
#pragma unroll
        for (int n = 0; n < 2; ++n) {
            const int key = 8 * n + g;
            const __half* from = k_pages + place_of(key);
#pragma unroll
            for (int c = 0; c < kChunks; ++c) {
                const int d = 32 * c + 8 * t;
                of_k[n][c] = bring(from + d, key < left && d < dim);
            }
        }
#pragma unroll
        for (int j = 0; j < 4; ++j) {
            const int key = j / 2 * 8 + 2 * t + j % 2;
            const __half* from = v_pages + place_of(key);
#pragma unroll
            for (int h = 0; h < kHalves; ++h) {
                const int d = 64 * h + 8 * g;
                of_v[j][h] = bring(from + d, key < left && d < dim);
            }
        }
        next = slot_of(first + kWarps * kKeys);

        float scores[2][4] = {};
#pragma unroll
        for (int c = 0; c < kChunks; ++c)
#pragma unroll
            for (int n = 0; n < 2; ++n) {
                multiply<kBoth>(scores[n], own[2 * c], of_k[n][c].x, of_k[n][c].y);
                multiply<kBoth>(scores[n], own[2 * c + 1], of_k[n][c].z, of_k[n][c].w);
            }

        uint32_t weights[4] = {};
        float shrink[kRows];
#pragma unroll
        for (int r = 0; r < kRows; ++r) {
            float seen[4], higher = highest[r];
#pragma unroll
            for (int j = 0; j < 4; ++j) {
                const int key = j / 2 * 8 + 2 * t + j % 2;
                seen[j] = key < left ? scores[j / 2][2 * r + j % 2] * sizes.factor : -INFINITY;
                higher = fmaxf(higher, seen[j]);
            }
            higher = max_of_four(higher);
            const float reference = reference_of(higher);
            shrink[r] = exp2f(highest[r] - reference);
            total[r] *= shrink[r];  // of this lane's keys alone; the four lanes meet at the end
#pragma unroll
            for (int j = 0; j < 4; ++j) total[r] += seen[j] = exp2f(seen[j] - reference + kLift);
            weights[r] = pair(__float2half(seen[0]), __float2half(seen[1]));
            weights[r + 2] = pair(__float2half(seen[2]), __float2half(seen[3]));
            highest[r] = higher;
        }
        bool same = true;
#pragma unroll
        for (int r = 0; r < kRows; ++r) same = same && shrink[r] == 1.0f;
        if (!__all_sync(kAll, same))  // after the first steps a higher score is rare
#pragma unroll
            for (int i = 0; i < 8 * kHalves; ++i)
#pragma unroll
                for (int j = 0; j < 2 * kRows; ++j) result[i][j] *= shrink[j / 2];
#pragma unroll
        for (int h = 0; h < kHalves; ++h) {
            const uint4 *a = &of_v[0][h], *b = &of_v[1][h], *c = &of_v[2][h], *d = &of_v[3][h];
            float(*sums)[4] = result + 8 * h;
            multiply<kBoth>(sums[0], weights, low_halves(a->x, b->x), low_halves(c->x, d->x));
            multiply<kBoth>(sums[1], weights, high_halves(a->x, b->x), high_halves(c->x, d->x));
            multiply<kBoth>(sums[2], weights, low_halves(a->y, b->y), low_halves(c->y, d->y));
            multiply<kBoth>(sums[3], weights, high_halves(a->y, b->y), high_halves(c->y, d->y));
            multiply<kBoth>(sums[4], weights, low_halves(a->z, b->z), low_halves(c->z, d->z));
            multiply<kBoth>(sums[5], weights, high_halves(a->z, b->z), high_halves(c->z, d->z));
            multiply<kBoth>(sums[6], weights, low_halves(a->w, b->w), low_halves(c->w, d->w));
            multiply<kBoth>(sums[7], weights, high_halves(a->w, b->w), high_halves(c->w, d->w));
        }
    }

    // The warps meet in shared memory. Sum i of a half belongs to the dimensions 8 * column + i.
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
        const float all = sum_of_four(total[r]);
        if (t == 0) warps[warp][g + 8 * r] = {highest[r], all};
#pragma unroll
        for (int i = 0; i < 8 * kHalves; ++i)
#pragma unroll
            for (int j = 0; j < 2; ++j)
                results[warp][g + 8 * r][i / 8 * 64 + 8 * (2 * t + j) + i % 8] = result[i][2 * r + j];
    }
    __syncthreads();
    for (int row = warp; row < queries; row += kWarps) {
        Running all = {-INFINITY, 0.0f};
        for (int w = 0; w < kWarps; ++w) all.highest = fmaxf(all.highest, warps[w][row].highest);
        const float reference = reference_of(all.highest);
        float shrink[kWarps];
#pragma unroll
        for (int w = 0; w < kWarps; ++w) {
            shrink[w] = exp2f(warps[w][row].highest - reference);
            all.total += warps[w][row].total * shrink[w];
        }
        const int64_t query = query0 + row, place = query * sizes.parts + part;
        if (sizes.parts > 1 && lane == 0) known[place] = all;
        for (int d = lane; d < dim; d += 32) {
            float sum = 0.0f;
#pragma unroll
            for (int w = 0; w < kWarps; ++w) sum += results[w][row][d] * shrink[w];
            if (sizes.parts > 1)
                partial[place * dim + d] = sum;
            else
                out[query * dim + d] = __float2half(sum / all.total);
        }
    }
}

// A block per query puts the parts together: a thread for each part first, then several threads for each dimension.
template <int kDims>
__global__ void __launch_bounds__(kMostParts)
merge(const float* __restrict__ partial, const Running* __restrict__ known, const int* __restrict__ lengths,
      __half* __restrict__ out, Sizes sizes) {
    constexpr int kTogether = kMostParts / kDims;  // threads of a dimension
    __shared__ float shrinks[kMostParts], sums[kMostParts], highs[kMostParts / 32], totals[kMostParts / 32];
    const int64_t query = blockIdx.x, sequence = query / (sizes.kv_heads * sizes.group);
    const int parts = static_cast<int>((lengths[sequence] + sizes.each - 1) / sizes.each);
    const int thread = threadIdx.x, warp = thread / 32;
    const Running mine = thread < parts ? known[query * sizes.parts + thread] : Running{-INFINITY, 0.0f};

    float highest = mine.highest;
    for (int distance = 16; distance > 0; distance /= 2)
        highest = fmaxf(highest, __shfl_xor_sync(kAll, highest, distance));
    highs[warp] = highest;
    __syncthreads();
    for (int w = 0; w < kMostParts / 32; ++w) highest = fmaxf(highest, highs[w]);
    const float shrink = exp2f(mine.highest - reference_of(highest));
    float total = mine.total * shrink;
    for (int distance = 16; distance > 0; distance /= 2) total += __shfl_xor_sync(kAll, total, distance);
    shrinks[thread] = shrink, totals[warp] = total;
    __syncthreads();

    const int d = thread % kDims;
    float result = 0.0f;
    if (d < sizes.dim) {
        const float* from = partial + query * sizes.parts * sizes.dim + d;
#pragma unroll 4
        for (int part = thread / kDims; part < parts; part += kTogether)
            result += from[static_cast<int64_t>(part) * sizes.dim] * shrinks[part];
    }
    sums[thread] = result;
    __syncthreads();
    if (thread >= sizes.dim) return;
    if (parts == 0) {  // no key counts
        out[query * sizes.dim + thread] = __float2half(0.0f);
        return;
    }
    for (int other = 1; other < kTogether; ++other) result += sums[other * kDims + thread];
    total = 0.0f;
    for (int w = 0; w < kMostParts / 32; ++w) total += totals[w];
    out[query * sizes.dim + thread] = __float2half(result / total);
}

template <int kDims, bool kBoth>
void launch(const __half* q, const __half* k_pages, const __half* v_pages, const int* table, const int* lengths,
            __half* out, int64_t heads, int64_t queries, Sizes sizes) {
    int device = 0, processors = 1;
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
    // Enough parts for some waves of blocks, but none shorter than kShortest.
    int64_t wanted = (processors * kResident * kWaves + heads * sizes.tiles - 1) / (heads * sizes.tiles);
    if (wanted > kMostParts) wanted = kMostParts;
    const int64_t unit = kKeys * kWarps, most = sizes.max_pages * sizes.page_size, least = (most + wanted - 1) / wanted;
    sizes.each = ((least > kShortest ? least : kShortest) + unit - 1) / unit * unit;
    sizes.parts = most > sizes.each ? (most + sizes.each - 1) / sizes.each : 1;

    float* partial = nullptr;
    Running* known = nullptr;
    if (sizes.parts > 1) {
        // One piece of memory for both, in the order of the stream, like the launches.
        const int64_t count = queries * sizes.parts;
        void* memory = nullptr;
        if (cudaMallocAsync(&memory, count * (sizeof(Running) + sizes.dim * sizeof(float)), 0) != cudaSuccess) return;
        known = static_cast<Running*>(memory);
        partial = reinterpret_cast<float*>(known + count);
    }
    const auto blocks = static_cast<unsigned>(heads * sizes.tiles * sizes.parts);
    attend<kDims, kBoth><<<blocks, kThreads>>>(q, k_pages, v_pages, table, lengths, out, partial, known, sizes);
    if (sizes.parts > 1) {
        merge<kDims><<<static_cast<unsigned>(queries), kMostParts>>>(partial, known, lengths, out, sizes);
        cudaFreeAsync(known, 0);
    }
}

extern "C" void solve(const __half* q, const __half* k_pages, const __half* v_pages, const int* table,
                      const int* lengths, __half* out, float scale, int64_t sequences, int64_t q_heads, int64_t kv_heads,
                      int64_t pages, int64_t page_size, int64_t max_pages, int64_t dim) {
    if (sequences == 0 || q_heads == 0 || dim == 0) return;  // out is empty
    Sizes sizes = {};
    sizes.kv_heads = kv_heads, sizes.group = q_heads / kv_heads, sizes.max_pages = max_pages;
    sizes.page_size = static_cast<unsigned>(page_size), sizes.dim = static_cast<int>(dim);
    sizes.tiles = (sizes.group + kQueries - 1) / kQueries, sizes.factor = scale * kLog2E;
    const int64_t heads = sequences * kv_heads, queries = sequences * q_heads;
    if (dim <= 64 && sizes.group <= 8)
        launch<64, false>(q, k_pages, v_pages, table, lengths, out, heads, queries, sizes);
    else if (dim <= 64)
        launch<64, true>(q, k_pages, v_pages, table, lengths, out, heads, queries, sizes);
    else if (sizes.group <= 8)
        launch<128, false>(q, k_pages, v_pages, table, lengths, out, heads, queries, sizes);
    else
        launch<128, true>(q, k_pages, v_pages, table, lengths, out, heads, queries, sizes);
}
