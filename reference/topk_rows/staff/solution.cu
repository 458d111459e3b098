// Top k by rows. A block holds thousands of elements of a row in registers. The largest of each thread give a bound that at
// least k elements reach and few exceed; only those are sorted. A short row has a warp, which keeps the 64 best so far.
#include <cmath>
#include <cstdint>
#include <cuda_runtime.h>

constexpr unsigned kAll = 0xffffffffu;
constexpr int kThreads = 256;
constexpr int kWarps = kThreads / 32;
constexpr int kList = 64;            // the largest k: two places for each lane
constexpr int kFours = 4;            // a lane has this many loads of 16 bytes in flight
constexpr int kStep = 32 * 4 * kFours;
constexpr int64_t kShortRow = 1024;  // up to here a warp has a row, and needs no __syncthreads

// Value and column in one number. Of two elements the one that comes first has the larger key: it is larger, or equal with
// the smaller column. No two keys are equal, and none is 0.
__device__ uint64_t key_of(float value, uint32_t column) {
    const uint32_t bits = __float_as_uint(value + 0.0f);  // -0.0 + 0.0 is 0.0: the two are a tie
    uint32_t order = bits & 0x80000000u ? ~bits : bits | 0x80000000u;
    if (value != value) order = 0xffffffffu;
    return static_cast<uint64_t>(order) << 32 | ~column;
}

__device__ float value_of(uint64_t key) {
    const uint32_t order = static_cast<uint32_t>(key >> 32);
    return __uint_as_float(order & 0x80000000u ? order ^ 0x80000000u : ~order);
}

// The larger or the smaller of this lane's key and that of the lane `distance` away.
__device__ uint64_t exchanged(uint64_t mine, int distance, bool smaller) {
    const uint64_t other = __shfl_xor_sync(kAll, mine, distance);
    return (mine < other) == smaller ? mine : other;
}

// 64 keys of a warp: lane l has places l and l + 32.
struct Keys {
    uint64_t first = 0, second = 0;
};

// Bitonic sort, the smallest key at place 0.
__device__ Keys rising(Keys keys, int lane) {
#pragma unroll
    for (int size = 2; size <= kList; size *= 2) {
        if (size == kList) keys = {min(keys.first, keys.second), max(keys.first, keys.second)};
#pragma unroll
        for (int distance = size == kList ? 16 : size / 2; distance > 0; distance /= 2) {
            const bool lower = !(lane & distance);
            keys.first = exchanged(keys.first, distance, lower == !(lane & size));
            keys.second = exchanged(keys.second, distance, lower == !((lane + 32) & size));
        }
    }
    return keys;
}

// The 64 largest of a falling and a rising sequence, falling.
__device__ Keys merged(Keys falling, Keys rising, int lane) {
    // The larger key of each place is among the 64 largest; one more merge of the bitonic sort orders them.
    const uint64_t a = max(falling.first, rising.first), b = max(falling.second, rising.second);
    Keys keys = {max(a, b), min(a, b)};
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) {
        const bool upper = lane & distance;
        keys.first = exchanged(keys.first, distance, upper);
        keys.second = exchanged(keys.second, distance, upper);
    }
    return keys;
}

// The best of what one warp has seen. New ones wait in shared memory until there are 64, so that sorting is rare.
struct Best {
    uint64_t* waiting;
    int64_t k;
    int lane;
    Keys keys = {};
    int count = 0;           // of those that wait
    uint64_t threshold = 0;  // the k-th best key
    float least = NAN;       // its value; nothing is less than NaN, so at first everything is looked at

    __device__ void take_in() {
        __syncwarp();
        const Keys found = {lane < count ? waiting[lane] : 0, lane + 32 < count ? waiting[lane + 32] : 0};
        __syncwarp();
        keys = merged(keys, rising(found, lane), lane);
        threshold = __shfl_sync(kAll, k > 32 ? keys.second : keys.first, static_cast<int>(k - 1) % 32);
        least = value_of(threshold);
        count = 0;
    }

    // All lanes call it, each with one element.
    __device__ void offer(float value, uint32_t column, bool inside) {
        bool wanted = inside && !(value < least) && key_of(value, column) > threshold;
        unsigned votes = __ballot_sync(kAll, wanted);
        if (votes == 0) return;
        const uint64_t key = key_of(value, column);
        if (count + __popc(votes) > kList) {
            take_in();
            wanted = wanted && key > threshold;
            votes = __ballot_sync(kAll, wanted);
        }
        if (wanted) waiting[count + __popc(votes & ((1u << lane) - 1))] = key;
        count += __popc(votes);
    }

    __device__ void write(float* values, int32_t* indices, int64_t row) const {
        for (int i = 0; i < 2; ++i) {
            const int place = lane + 32 * i;
            if (place >= k) return;
            const uint64_t key = i == 0 ? keys.first : keys.second;
            values[row * k + place] = value_of(key);
            indices[row * k + place] = static_cast<int32_t>(~static_cast<uint32_t>(key));
        }
    }
};

// Four elements from `place` on; anything outside the row.
__device__ float4 bring(const float* x, int64_t place, int64_t begin, int64_t end) {
    if (place >= begin && place + 4 <= end) return *reinterpret_cast<const float4*>(x + place);
    float4 four = make_float4(-INFINITY, -INFINITY, -INFINITY, -INFINITY);
    if (place >= begin && place < end) four.x = x[place];
    if (place + 1 >= begin && place + 1 < end) four.y = x[place + 1];
    if (place + 2 >= begin && place + 2 < end) four.z = x[place + 2];
    if (place + 3 >= begin && place + 3 < end) four.w = x[place + 3];
    return four;
}

// Shows `best` each step of the row that is this warp's, of `kTogether` warps. Places count in the whole matrix; the walk
// starts at a multiple of four, so that loads of 16 bytes are aligned even if the row is not.
template <int kTogether>
__device__ void search(const float* x, int64_t row, int64_t cols, int warp, Best& best) {
    const int64_t begin = row * cols, end = begin + cols;  // 64 bits: rows * cols may exceed 2^31
    for (int64_t start = begin / 4 * 4 + warp * kStep; start < end; start += kTogether * kStep) {
        const int64_t place = start + 4 * best.lane;
        float4 fours[kFours];  // all loads are on their way before the first is waited for
#pragma unroll
        for (int i = 0; i < kFours; ++i) fours[i] = bring(x, place + 128 * i, begin, end);
#pragma unroll
        for (int i = 0; i < kFours; ++i) {
            const float4 four = fours[i];
            // "Not less" and not "greater": NaN has to pass. Nearly always nothing does, and one vote settles 128 elements.
            const bool any = !(four.x < best.least) || !(four.y < best.least) || !(four.z < best.least) ||
                             !(four.w < best.least);
            if (!__any_sync(kAll, any)) continue;
            const int64_t column = place + 128 * i - begin;  // up to three elements come before the row
            best.offer(four.x, static_cast<uint32_t>(column), column >= 0 && column < cols);
            best.offer(four.y, static_cast<uint32_t>(column + 1), column + 1 >= 0 && column + 1 < cols);
            best.offer(four.z, static_cast<uint32_t>(column + 2), column + 2 >= 0 && column + 2 < cols);
            best.offer(four.w, static_cast<uint32_t>(column + 3), column + 3 >= 0 && column + 3 < cols);
        }
    }
    if (best.count) best.take_in();
}

// One warp per row.
__global__ void __launch_bounds__(kThreads)
short_rows(const float* x, float* values, int32_t* indices, int64_t rows, int64_t cols, int64_t k) {
    __shared__ uint64_t waiting[kWarps][kList];
    const int warp = threadIdx.x / 32;
    const int64_t row = static_cast<int64_t>(blockIdx.x) * kWarps + warp;
    if (row >= rows) return;  // a whole warp leaves: no shuffle misses a lane
    Best best{waiting[warp], k, static_cast<int>(threadIdx.x % 32)};
    search<1>(x, row, cols, 0, best);
    best.write(values, indices, row);
}

// Each warp of the block searches its steps of the row; the first one merges what they found.
__device__ void search_together(const float* x, int64_t row, int64_t cols, uint64_t (&lists)[kWarps][kList], Best& best) {
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    search<kWarps>(x, row, cols, warp, best);
    lists[warp][lane] = best.keys.first;  // nothing waits there any more
    lists[warp][lane + 32] = best.keys.second;
    __syncthreads();
    if (warp != 0) return;
    for (int other = 1; other < kWarps; ++other)  // a falling list, read from its end, rises
        best.keys = merged(best.keys, {lists[other][63 - lane], lists[other][31 - lane]}, lane);
}

// The value that at least `count` lanes of the warp reach by their own, as the upper half of a key.
__device__ uint32_t reached(float own, int count, int lane) {
    uint32_t order = static_cast<uint32_t>(key_of(own, 0) >> 32), best = 0;
    for (int i = 0; i < count; ++i) {
        best = order;
#pragma unroll
        for (int distance = 16; distance > 0; distance /= 2) best = max(best, __shfl_xor_sync(kAll, best, distance));
        // One of the lanes that have it drops out.
        if (lane == __ffs(__ballot_sync(kAll, order == best)) - 1) order = 0;
    }
    return best;
}

// One block per row, of which it holds kThreads * kQuads * 4 elements at a time.
template <int kQuads>
__global__ void __launch_bounds__(kThreads, kQuads > 5 ? 3 : 4)
held_rows(const float* x, float* values, int32_t* indices, int64_t cols, int64_t k) {
    constexpr int kHeld = kThreads * kQuads * 4, kMost = kWarps * kList;
    __shared__ uint64_t lists[kWarps][kList];  // of all warps together at first: what may be among the best
    __shared__ uint32_t reached_in[kWarps];
    __shared__ uint64_t kth;  // the k-th best key of what was held before
    __shared__ int counts[2];  // of them; one is read while the other becomes 0
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int64_t row = blockIdx.x, begin = row * cols, end = begin + cols;  // 64 bits: rows * cols may exceed 2^31
    uint64_t* found = lists[0];
    Best best{lists[warp], k, lane};
    if (threadIdx.x == 0) counts[0] = 0, kth = 0;
    int turn = 0;
    // From a multiple of four on, so that loads of 16 bytes are aligned even if the row is not.
    for (int64_t start = begin / 4 * 4; start < end; start += kHeld, turn ^= 1) {
        float4 quads[kQuads];  // all loads are on their way before the first is waited for
#pragma unroll
        for (int i = 0; i < kQuads; ++i) quads[i] = bring(x, start + 4 * (threadIdx.x + i * kThreads), begin, end);
        float least;
        if (start <= begin) {
            float own = -INFINITY;
#pragma unroll
            for (int i = 0; i < kQuads; ++i)
                own = fmaxf(own, fmaxf(fmaxf(quads[i].x, quads[i].y), fmaxf(quads[i].z, quads[i].w)));
            // An eighth of k in each of eight warps: k different elements, and usually few more.
            const uint32_t in_warp = reached(own, static_cast<int>(k + kWarps - 1) / kWarps, lane);
            if (lane == 0) reached_in[warp] = in_warp;
            __syncthreads();
            uint32_t order = reached_in[0];
            for (int i = 1; i < kWarps; ++i) order = min(order, reached_in[i]);
            const uint32_t lowest = static_cast<uint32_t>(key_of(-INFINITY, 0) >> 32);  // which everything reaches
            least = value_of(static_cast<uint64_t>(max(order, lowest)) << 32);
        } else {
            least = value_of(kth);
        }
        const uint64_t bound = kth;
#pragma unroll
        for (int i = 0; i < kQuads; ++i) {
            const float four[4] = {quads[i].x, quads[i].y, quads[i].z, quads[i].w};
            // "Not less" and not "greater": NaN and ties have to pass.
            if (four[0] < least && four[1] < least && four[2] < least && four[3] < least) continue;
            const int64_t place = start + 4 * (threadIdx.x + i * kThreads);
#pragma unroll
            for (int j = 0; j < 4; ++j) {
                if (four[j] < least || place + j < begin || place + j >= end) continue;
                const uint64_t key = key_of(four[j], static_cast<uint32_t>(place + j - begin));
                if (key <= bound) continue;
                const int at = atomicAdd(&counts[turn], 1);
                if (at < kMost) found[at] = key;
            }
        }
        __syncthreads();
        const int count = counts[turn];
        if (count > kMost) {  // many ties, or a row that rises
            __syncthreads();  // everybody has read the count and may reuse the lists
            best.keys = {};
            search_together(x, row, cols, lists, best);
            break;
        }
        if (warp == 0) {
            for (int first = 0; first < count; first += kList) {
                const int one = first + lane, two = one + 32;
                const Keys next = {one < count ? found[one] : 0, two < count ? found[two] : 0};
                best.keys = merged(best.keys, rising(next, lane), lane);
            }
            const uint64_t last = __shfl_sync(kAll, k > 32 ? best.keys.second : best.keys.first,
                                              static_cast<int>(k - 1) % 32);
            if (lane == 0) kth = last, counts[turn ^ 1] = 0;
        }
        if (start + kHeld < end) __syncthreads();
    }
    if (warp == 0) best.write(values, indices, row);
}

extern "C" void solve(const float* x, float* values, int32_t* indices, int64_t rows, int64_t cols, int64_t k) {
    if (rows == 0) return;  // a grid of 0 blocks is a launch error
    if (cols <= kShortRow)
        short_rows<<<static_cast<unsigned>((rows + kWarps - 1) / kWarps), kThreads>>>(x, values, indices, rows, cols, k);
    else if (cols <= 5 * 4 * kThreads - 3)  // three more may come before an unaligned row
        held_rows<5><<<static_cast<unsigned>(rows), kThreads>>>(x, values, indices, cols, k);
    else
        held_rows<9><<<static_cast<unsigned>(rows), kThreads>>>(x, values, indices, cols, k);
}
