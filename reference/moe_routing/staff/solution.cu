// Routing in three launches. The first reads the logits once: it chooses each token's experts, makes their weights, and
// counts how often each expert was chosen, tile by tile. The second adds up these counts. The third places the pairs.
//
// - A token has 1 to 32 lanes, each with up to 8 of its logits in registers. The k-th largest of the lanes' largest is a
//   bound that at least k logits reach and few exceed. Each that reaches it gets a rank by comparison with all others.
// - A tile of 2,048 pairs is ordered in shared memory before it is written. So neighbouring threads write neighbouring
//   places.
#include <cstdint>
#include <cuda_runtime.h>

constexpr unsigned kAll = 0xffffffffu;
constexpr int kThreads = 256;
constexpr int kWarps = kThreads / 32;
constexpr int kExperts = kThreads;  // the most that there are
constexpr int kHeld = 8;            // logits of a lane: 32 lanes hold those of 256 experts
constexpr int kMost = 8;            // the largest k
constexpr int kItems = 8;           // pairs of a thread
constexpr int kTile = kThreads * kItems;
constexpr int kScanThreads = 1024;
constexpr int kScanItems = 8;

// Larger floats have larger numbers, NaN has the largest, and none has 0, which is below all.
__device__ uint32_t order_of(float logit) {
    const uint32_t bits = __float_as_uint(logit + 0.0f);  // -0.0 + 0.0 is 0.0: the two are a tie
    if (logit != logit) return 0xffffffffu;
    return bits & 0x80000000u ? ~bits : bits | 0x80000000u;
}

// Logit and expert in one number. Of two the one that comes first has the larger key.
__device__ uint64_t key_of(float logit, int expert) {
    return static_cast<uint64_t>(order_of(logit)) << 32 | ~static_cast<uint32_t>(expert);
}

__device__ float logit_of(uint64_t key) {
    const uint32_t order = static_cast<uint32_t>(key >> 32);
    return __uint_as_float(order & 0x80000000u ? order ^ 0x80000000u : ~order);
}

__device__ int expert_of(uint64_t key) { return static_cast<int>(~static_cast<uint32_t>(key)); }

// The largest of kLanes neighbouring lanes.
template <int kLanes>
__device__ uint32_t largest(uint32_t value) {
    if constexpr (kLanes == 32) {
        return __reduce_max_sync(kAll, value);
    } else {
#pragma unroll
        for (int d = kLanes / 2; d > 0; d /= 2) value = max(value, __shfl_xor_sync(kAll, value, d));
        return value;
    }
}

struct Routing {
    const float* logits;
    int32_t* chosen;
    float* weights;
    int32_t* tile_counts;  // of each expert, tile by tile
    int64_t tokens, each;  // each: tokens of a tile
    int experts, k;
};

template <int kLanes>
__global__ void __launch_bounds__(kThreads) choose(Routing r) {
    constexpr int kTokens = kThreads / kLanes;  // that a block takes at a time
    constexpr int kRoom = kLanes * kHeld + 1;   // one more, so that two tokens' lists begin in different banks
    __shared__ uint64_t lists[kTokens][kRoom];  // what reaches the bound
    __shared__ uint64_t best[kTokens][kMost];
    __shared__ float powers[kTokens][kMost];
    __shared__ int32_t counts[kExperts];
    const int lane = threadIdx.x % 32, sub = threadIdx.x % kLanes, own = threadIdx.x / kLanes;
    const unsigned mine = (kLanes == 32 ? kAll : (1u << kLanes % 32) - 1) << (lane - sub);  // lanes of this token
    const int experts = r.experts, k = r.k;
    uint64_t* list = lists[own];
    counts[threadIdx.x] = 0;
    __syncthreads();

    const int64_t begin = blockIdx.x * r.each, end = begin + r.each < r.tokens ? begin + r.each : r.tokens;
    float held[kHeld];
    const auto load = [&](int64_t token) {
#pragma unroll
        for (int i = 0; i < kHeld; ++i) {
            const int e = sub + i * kLanes;
            if (token < end && e < experts) held[i] = r.logits[token * experts + e];
        }
    };
    load(begin + own);
    for (int64_t first = begin; first < end; first += kTokens) {
        const int64_t token = first + own;
        uint32_t orders[kHeld], most = 0;
#pragma unroll
        for (int i = 0; i < kHeld; ++i) {
            orders[i] = token < end && sub + i * kLanes < experts ? order_of(held[i]) : 0;
            most = max(most, orders[i]);
        }
        load(token + kTokens);  // on their way while this token's are compared

        // At least k lanes have a logit that reaches the bound. With fewer lanes than k, all logits do.
        uint32_t bound = 1;
        if (kLanes >= k) {
            uint32_t left = most;
            for (int i = 0; i < k; ++i) {
                const uint32_t next = largest<kLanes>(left);
                if (next != 0) bound = next;  // 0: all lanes are out, because some are equal
                if (left == next) left = 0;
            }
        }

        unsigned wanted = 0;
#pragma unroll
        for (int i = 0; i < kHeld; ++i) wanted |= static_cast<unsigned>(orders[i] >= bound) << i;
        int count = 0;
        for (unsigned have; (have = __ballot_sync(kAll, wanted != 0)) != 0;) {
            if (wanted != 0) {
                // Read again, from the L1 cache: registers cannot be indexed.
                const int e = sub + (__ffs(wanted) - 1) * kLanes;
                list[count + __popc(have & mine & ((1u << lane) - 1))] = key_of(r.logits[token * experts + e], e);
                wanted &= wanted - 1;
            }
            count += __popc(have & mine);
        }
        __syncwarp();
        for (int i = sub; i < count; i += kLanes) {
            const uint64_t key = list[i];
            int rank = 0;  // no two keys are equal
            for (int j = 0; j < count; ++j) rank += list[j] > key;
            if (rank < k) best[own][rank] = key;
        }
        __syncwarp();
        if (token < end) {
            const float top = logit_of(best[own][0]);
            for (int i = sub; i < k; i += kLanes) powers[own][i] = expf(logit_of(best[own][i]) - top);
        }
        __syncwarp();
        if (token < end) {
            for (int i = sub; i < k; i += kLanes) {
                float sum = 0.0f;
                for (int j = 0; j < k; ++j) sum += powers[own][j];
                const int expert = expert_of(best[own][i]);
                r.chosen[token * k + i] = expert;
                r.weights[token * k + i] = powers[own][i] / sum;
                atomicAdd(&counts[expert], 1);
            }
        }
        __syncwarp();  // all have read the lists, which are used again
    }
    __syncthreads();
    const int64_t e = threadIdx.x;
    if (e < experts) r.tile_counts[e * gridDim.x + blockIdx.x] = counts[e];
}

// The sum over the threads of a block up to this one. Called by all threads.
template <int kCalling>
__device__ int32_t up_to_here(int32_t value) {
    __shared__ int32_t sums[kCalling / 32];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
#pragma unroll
    for (int d = 1; d < 32; d *= 2) {
        const int32_t below = __shfl_up_sync(kAll, value, d);
        if (lane >= d) value += below;
    }
    __syncthreads();  // the sums of an earlier call have been read
    if (lane == 31) sums[warp] = value;
    __syncthreads();
    for (int w = 0; w < warp; ++w) value += sums[w];
    return value;
}

// Block e: each count of expert e becomes the sum of those of the tiles ahead. totals[e]: of all.
__global__ void __launch_bounds__(kScanThreads) add_up(int32_t* tile_counts, int32_t* totals, int64_t tiles) {
    __shared__ int32_t all;
    int32_t* counts = tile_counts + blockIdx.x * tiles;
    int32_t before = 0;
    for (int64_t first = 0; first < tiles; first += kScanThreads * kScanItems) {
        const int64_t begin = first + threadIdx.x * kScanItems;
        int32_t own[kScanItems], sum = 0;
#pragma unroll
        for (int i = 0; i < kScanItems; ++i) own[i] = begin + i < tiles ? counts[begin + i] : 0;
#pragma unroll
        for (int i = 0; i < kScanItems; ++i) sum += own[i];
        const int32_t end = up_to_here<kScanThreads>(sum);
        if (threadIdx.x == kScanThreads - 1) all = end;
        int32_t next = before + end - sum;
#pragma unroll
        for (int i = 0; i < kScanItems; ++i) {
            if (begin + i < tiles) counts[begin + i] = next;
            next += own[i];
        }
        __syncthreads();
        before += all;
    }
    if (threadIdx.x == 0) totals[blockIdx.x] = before;
}

// A block places a tile's pairs. tile_counts: how many pairs of each expert the tiles ahead have.
__global__ void __launch_bounds__(kThreads)
place(const int32_t* chosen, const int32_t* tile_counts, const int32_t* totals, int32_t* counts, int64_t* offsets,
      int32_t* order, int64_t pairs, int64_t each, int experts) {
    __shared__ int32_t ranks[kWarps][kExperts];
    __shared__ int32_t shift[kExperts];  // an expert's first place in order, less that in the tile
    __shared__ int32_t sorted[kTile];
    __shared__ uint8_t expert_at[kTile];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const unsigned lower = (1u << lane) - 1;
    for (int i = threadIdx.x; i < kWarps * kExperts; i += kThreads) ranks[i / kExperts][i % kExperts] = 0;
    __syncthreads();
    const int64_t first = blockIdx.x * each;
    const int length = static_cast<int>(pairs - first < each ? pairs - first : each);

    // A warp has 256 pairs that are next to each other, and takes 32 neighbours at a time: in their own order.
    int own[kItems];
#pragma unroll
    for (int i = 0; i < kItems; ++i) {
        const int at = (warp * kItems + i) * 32 + lane;
        // Behind the end there is the last expert there could be: it stays at the end of the tile.
        own[i] = at < length ? chosen[first + at] : kExperts - 1;
    }
    int32_t at_place[kItems];
#pragma unroll
    for (int i = 0; i < kItems; ++i) {
        unsigned same = kAll;  // lanes with this expert
#pragma unroll
        for (int b = 1; b < kExperts; b *= 2) {
            const unsigned ones = __ballot_sync(kAll, own[i] & b);
            same &= own[i] & b ? ones : ~ones;
        }
        const int32_t ahead = ranks[warp][own[i]];  // in this warp, of the rows before
        __syncwarp();
        if ((same & lower) == 0) ranks[warp][own[i]] = ahead + __popc(same);
        __syncwarp();
        at_place[i] = ahead + __popc(same & lower);
    }
    __syncthreads();

    // From here on thread e has expert e.
    const int e = threadIdx.x;
    int32_t total = 0;
    for (int w = 0; w < kWarps; ++w) total += ranks[w][e];
    const int32_t begin = up_to_here<kThreads>(total) - total;
    int32_t next = begin;
    for (int w = 0; w < kWarps; ++w) {
        const int32_t count = ranks[w][e];
        ranks[w][e] = next;
        next += count;
    }
    const int32_t everywhere = e < experts ? totals[e] : 0;
    const int32_t offset = up_to_here<kThreads>(everywhere) - everywhere;
    if (e < experts) shift[e] = offset + tile_counts[e * static_cast<int64_t>(gridDim.x) + blockIdx.x] - begin;
    if (blockIdx.x == 0 && e < experts) {
        counts[e] = everywhere;
        offsets[e] = offset;
        if (e == experts - 1) offsets[experts] = pairs;
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < kItems; ++i) {
        const int to = ranks[warp][own[i]] + at_place[i];
        sorted[to] = (warp * kItems + i) * 32 + lane;
        expert_at[to] = static_cast<uint8_t>(own[i]);
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < kItems; ++i) {
        const int at = i * kThreads + threadIdx.x;
        if (at < length) order[shift[expert_at[at]] + at] = static_cast<int32_t>(first + sorted[at]);
    }
}

extern "C" void solve(const float* logits, int32_t* chosen, float* weights, int32_t* counts, int64_t* offsets,
                      int32_t* order, int64_t tokens, int64_t experts, int64_t k) {
    if (tokens == 0) {  // a grid of 0 blocks is a launch error; nobody is chosen
        cudaMemsetAsync(counts, 0, experts * sizeof(int32_t), 0);
        cudaMemsetAsync(offsets, 0, (experts + 1) * sizeof(int64_t), 0);
        return;
    }
    const int64_t each = kTile / k, tiles = (tokens + each - 1) / each;
    int32_t* scratch = nullptr;
    if (cudaMallocAsync(reinterpret_cast<void**>(&scratch), (tiles + 1) * experts * sizeof(int32_t), 0) != cudaSuccess)
        return;
    int32_t *totals = scratch, *tile_counts = scratch + experts;
    const unsigned blocks = static_cast<unsigned>(tiles);
    const int count = static_cast<int>(experts);
    const Routing routing{logits, chosen, weights, tile_counts, tokens, each, count, static_cast<int>(k)};
    if (experts <= kHeld)
        choose<1><<<blocks, kThreads>>>(routing);
    else if (experts <= 2 * kHeld)
        choose<2><<<blocks, kThreads>>>(routing);
    else if (experts <= 4 * kHeld)
        choose<4><<<blocks, kThreads>>>(routing);
    else if (experts <= 8 * kHeld)
        choose<8><<<blocks, kThreads>>>(routing);
    else if (experts <= 16 * kHeld)
        choose<16><<<blocks, kThreads>>>(routing);
    else
        choose<32><<<blocks, kThreads>>>(routing);
    add_up<<<count, kScanThreads>>>(tile_counts, totals, tiles);
    place<<<blocks, kThreads>>>(chosen, tile_counts, totals, counts, offsets, order, tokens * k, each * k, count);
    cudaFreeAsync(scratch, 0);
}
