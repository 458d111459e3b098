// Sums of groups: warps share the elements, not the groups. However long a group is, all warps have as much to read.
//
// A warp takes a stretch of `steps` chunks. It searches once for the first group that begins there and then walks
// through the elements and the offsets together. What begins and ends in the stretch, the warp stores. Of the group
// that comes from the stretch before, and of the one that is open at the end, other warps have parts: these two sums
// are added atomically. out is cleared first.
//
// In a chunk a lane has 12 neighbouring elements, and 12 bits that say where groups begin. It adds up what is between
// two beginnings; what is left at both ends meets in a scan over the warp that stops at beginnings. A chunk without
// beginnings, as most are in a long group, takes nothing but additions.
#include <cstdint>
#include <cuda_pipeline.h>
#include <cuda_runtime.h>

constexpr unsigned kAll = 0xffffffffu;
constexpr int kThreads = 128;
constexpr int kWarps = kThreads / 32;
constexpr int kResident = 8;  // blocks on a multiprocessor
// Neighbouring elements of a lane. Lanes are 48 bytes apart, so eight reads of 16 bytes meet all banks.
constexpr int kItems = 12;
constexpr int kChunk = 32 * kItems;
constexpr int kStages = 3;      // chunks of a warp in shared memory: two are under way while one is added up
constexpr int kLeastSteps = 8, kMostSteps = 32;  // chunks of a stretch
constexpr int kWindow = 31;     // groups that a warp looks at together: lane 31 has the end of the last one

struct Warp {
    float chunk[kStages][kChunk];
    uint32_t begins[kChunk / 32 + 4];  // one bit for each element: does a group begin there?
    uint32_t list[kChunk];             // these groups, counted from the first of the stretch
};

// The sum over the warp; all lanes have it.
__device__ float warp_sum(float value) {
    for (int distance = 16; distance > 0; distance /= 2) value += __shfl_xor_sync(kAll, value, distance);
    return value;
}

// The first of offsets[0..groups] that is not below `place`. 32 lanes try 32 places: five steps among 30 million.
__device__ int64_t first_not_below(const int64_t* offsets, int64_t groups, int64_t place, int lane) {
    int64_t low = 0, high = groups;  // offsets[groups] is n, and no place is beyond it
    while (low < high) {
        const int64_t width = high - low;
        const int64_t probe = low + width * lane / 32;
        const int below = __popc(__ballot_sync(kAll, offsets[probe] < place));
        high = below < 32 ? low + width * below / 32 : high;
        if (below > 0) low += width * (below - 1) / 32 + 1;
    }
    return low;
}

// Puts a chunk of elements on its way to shared memory. 0 for what is behind the array.
__device__ void load(float* to, const float* values, int64_t first, int64_t n, int lane) {
#pragma unroll
    for (int i = 0; i < kItems / 4; ++i) {
        const int place = (i * 32 + lane) * 4;
        const int64_t from = first + place;
        if (from + 4 <= n) {
            __pipeline_memcpy_async(to + place, values + from, 16);
        } else {
            for (int k = 0; k < 4; ++k) to[place + k] = from + k < n ? values[from + k] : 0.0f;
        }
    }
}

__global__ void __launch_bounds__(kThreads, kResident)
    add_up(const float* values, const int64_t* offsets, float* out, int64_t n, int64_t groups, int steps) {
    __shared__ __align__(16) Warp shared[kWarps];
    const int lane = threadIdx.x % 32;
    Warp& own = shared[threadIdx.x / 32];
    const unsigned lower = (1u << lane) - 1;
    const int64_t begin = (static_cast<int64_t>(blockIdx.x) * kWarps + threadIdx.x / 32) * steps * kChunk;
    if (begin >= n) return;  // the whole warp; warps don't wait for each other
    const int64_t left = (n - begin + kChunk - 1) / kChunk;
    const int chunks = left < steps ? static_cast<int>(left) : steps;

    for (int c = 0; c < kStages - 1; ++c) {
        if (c < chunks) load(own.chunk[c], values, begin + c * kChunk, n, lane);
        __pipeline_commit();
    }
    // While they come: the offsets of the next groups, one for each lane. Beyond the last one there is no group.
    const int64_t first_group = first_not_below(offsets, groups, begin, lane);
    int64_t next = first_group;
    auto offset = [&](int64_t group) { return group <= groups ? offsets[group] : INT64_MAX; };
    int64_t place = offset(next + lane);

    // The group that the next element belongs to, unless another one begins there, and this lane's part of its sum.
    int64_t open = next - 1;
    float sum_of_open = 0.0f;
    bool here = false;  // it began in this stretch
    for (int c = 0; c < chunks; ++c) {
        const int64_t first = begin + c * kChunk;
        const int64_t stop = first + kChunk < n ? first + kChunk : n;
        const int ahead = c + kStages - 1;
        if (ahead < chunks) load(own.chunk[ahead % kStages], values, begin + ahead * kChunk, n, lane);
        __pipeline_commit();
        if (lane < kChunk / 32 + 1) own.begins[lane] = 0;
        __syncwarp();

        // Mark where groups begin. Empty ones have no element: their 0 is in out already.
        int count = 0;
        for (;;) {
            const int64_t end = __shfl_down_sync(kAll, place, 1);
            const bool inside = lane < kWindow && place < stop;
            const bool begins = inside && place < end;
            const unsigned beginning = __ballot_sync(kAll, begins);
            if (begins) {
                const int i = static_cast<int>(place - first);
                atomicOr(&own.begins[i / 32], 1u << i % 32);
                own.list[count + __popc(beginning & lower)] = static_cast<uint32_t>(next + lane - first_group);
            }
            count += __popc(beginning);
            const int passed = __popc(__ballot_sync(kAll, inside));
            next += passed;
            if (passed > 0) place = offset(next + lane);  // mostly for the next chunk, so nobody waits for it now
            if (passed < kWindow) break;
        }
        __pipeline_wait_prior(kStages - 1);
        __syncwarp();  // marks, list and all lanes' copies

        float item[kItems];
#pragma unroll
        for (int i = 0; i < kItems; i += 4) {
            const float4 four = *reinterpret_cast<const float4*>(own.chunk[c % kStages] + lane * kItems + i);
            item[i] = four.x, item[i + 1] = four.y, item[i + 2] = four.z, item[i + 3] = four.w;
        }
        if (count == 0) {
            float sum = 0.0f;
#pragma unroll
            for (int i = 0; i < kItems; ++i) sum += item[i];
            sum_of_open += sum;
            __syncwarp();  // all have read
            continue;
        }

        const int bit = lane * kItems;
        const unsigned begins =
            __funnelshift_r(own.begins[bit / 32], own.begins[bit / 32 + 1], bit % 32) & ((1u << kItems) - 1);
        int up_to_here = __popc(begins);
#pragma unroll
        for (int d = 1; d < 32; d *= 2) {
            const int below = __shfl_up_sync(kAll, up_to_here, d);
            if (lane >= d) up_to_here += below;
        }
        const int number = up_to_here - __popc(begins);  // of groups that begin in lower lanes
        int group = number;
        float sum = 0.0f, first_sum = 0.0f;  // since the last beginning; ahead of the first one
#pragma unroll
        for (int i = 0; i < kItems; ++i) {
            if (begins >> i & 1) {
                if (group == number) first_sum = sum;
                else out[first_group + own.list[group - 1]] = sum;
                ++group;
                sum = 0.0f;
            }
            sum += item[i];
        }
        // For each lane: the sum from the last beginning in a lane up to this one, or from lane 0 on.
        const unsigned beginning = __ballot_sync(kAll, begins != 0);
        const unsigned up_to_me = beginning & (lower | 1u << lane);
        const int from = up_to_me == 0 ? 0 : 31 - __clz(static_cast<int>(up_to_me));
        float scanned = sum;
#pragma unroll
        for (int d = 1; d < 32; d *= 2) {
            const float below = __shfl_up_sync(kAll, scanned, d);
            if (lane - d >= from) scanned += below;
        }
        const float below = __shfl_up_sync(kAll, scanned, 1);
        const float before_chunk = warp_sum(sum_of_open);
        if (begins != 0) {
            const float total = first_sum + (lane > 0 ? below : 0.0f);
            if ((beginning & lower) != 0) {
                out[first_group + own.list[number - 1]] = total;
            } else if (here) {
                out[open] = before_chunk + total;
            } else if (first + bit + __ffs(static_cast<int>(begins)) - 1 > begin) {
                atomicAdd(out + open, before_chunk + total);
            }
        }
        open = first_group + own.list[count - 1];
        sum_of_open = lane == 31 ? scanned : 0.0f;
        here = true;
        __syncwarp();  // all have read
    }
    const float total = warp_sum(sum_of_open);
    if (lane == 0) atomicAdd(out + open, total);
}

extern "C" void solve(const float* values, const int64_t* offsets, float* out, int64_t n, int64_t groups) {
    // Four bytes of 0 are 0.0f. Empty groups keep it, and the others need it where warps add.
    if (groups > 0) cudaMemsetAsync(out, 0, groups * sizeof(float), 0);
    if (n == 0) return;
    int device = 0, processors = 1;
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
    // Eight stretches for each warp that runs at a time: the last ones end at about the same time.
    const int64_t chunks = (n + kChunk - 1) / kChunk;
    int64_t steps = chunks / (static_cast<int64_t>(processors) * kResident * kWarps * 8);
    if (steps < kLeastSteps) steps = kLeastSteps;
    if (steps > kMostSteps) steps = kMostSteps;
    const int64_t warps = (chunks + steps - 1) / steps;
    add_up<<<static_cast<unsigned>((warps + kWarps - 1) / kWarps), kThreads>>>(values, offsets, out, n, groups,
                                                                               static_cast<int>(steps));
}
