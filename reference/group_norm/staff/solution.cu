// Group normalisation: one block per group, whose elements lie one after the other in memory. Up to 32768 of them are
// read once and kept in registers. Longer groups are read twice, by many blocks: moments first, then the result.
#include <cstdint>
#include <cuda_runtime.h>

// Adds up ``value`` over the block; every thread gets the sum.
template <int kThreads>
__device__ float block_sum(float value) {
    for (int offset = 16; offset > 0; offset /= 2) value += __shfl_xor_sync(~0u, value, offset);
    if constexpr (kThreads > 32) {
        constexpr int kWarps = kThreads / 32;
        __shared__ float parts[kWarps];
        __syncthreads();  // somebody may still be reading the parts of the sum before
        if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = value;
        __syncthreads();
        value = parts[threadIdx.x % kWarps];
        for (int offset = kWarps / 2; offset > 0; offset /= 2) value += __shfl_xor_sync(~0u, value, offset);
    }
    return value;
}

// The channel of a place that moves on in equal steps. One division at the start, additions from then on: a division
// for each element would take longer than the memory.
template <typename Int>
struct Channel {
    Int number, place;                   // the channel, and the place within it
    Int step_number, step_place, width;  // what a step adds to both; places of a channel

    __device__ Channel(Int at, Int step, Int width)
        : number(at / width), place(at % width), step_number(step / width), step_place(step % width), width(width) {}

    __device__ void move() {
        number += step_number, place += step_place;
        if (place >= width) place -= width, ++number;
    }
};

// A thread's quads of a group: four elements at a multiple of 16 bytes each, whether the group begins at one or not.
// Elements are numbered from the group's first, so quads at its ends have some outside.
template <int kThreads, int kQuads>
__global__ void __launch_bounds__(kThreads)
short_groups(const float* x, const float* weight, const float* bias, float* out, float eps, int groups,
             int channels_of_group, int spatial) {
    const int count = channels_of_group * spatial;
    const int64_t begin = static_cast<int64_t>(blockIdx.x) * count;  // 64 bits: x may have more than 2^31 elements
    const float* group = x + begin;
    float* result = out + begin;
    const int first_channel = blockIdx.x % groups * channels_of_group;
    const int first = 4 * static_cast<int>(threadIdx.x) - static_cast<int>(begin % 4);
    const auto element = [&](int quad) { return first + 4 * kThreads * quad; };
    const auto inside = [&](int at) { return at >= 0 && at < count; };
    const auto whole = [&](int at) { return at >= 0 && at + 4 <= count; };

    float kept[kQuads][4];  // all loads are under way before the first is waited for
#pragma unroll
    for (int i = 0; i < kQuads; ++i) {
        const int at = element(i);
        if (whole(at)) {
            const float4 quad = *reinterpret_cast<const float4*>(group + at);
            kept[i][0] = quad.x, kept[i][1] = quad.y, kept[i][2] = quad.z, kept[i][3] = quad.w;
        } else {
#pragma unroll
            for (int j = 0; j < 4; ++j) kept[i][j] = inside(at + j) ? group[at + j] : 0.0f;
        }
    }

    float sum = 0.0f;  // what is outside the group is 0 and changes nothing
#pragma unroll
    for (int i = 0; i < kQuads; ++i) sum += (kept[i][0] + kept[i][1]) + (kept[i][2] + kept[i][3]);
    const float mean = block_sum<kThreads>(sum) / count;

    // The deviations first, then their squares: E[x^2] - E[x]^2 would lose every digit where the mean is large.
    float squares = 0.0f;
#pragma unroll
    for (int i = 0; i < kQuads; ++i) {
        const int at = element(i);
#pragma unroll
        for (int j = 0; j < 4; ++j) {
            kept[i][j] -= mean;
            // Outside the group the deviation is -mean: it must not be counted.
            if (inside(at + j)) squares += kept[i][j] * kept[i][j];
        }
    }
    const float rstd = rsqrtf(block_sum<kThreads>(squares) / count + eps);

    // `first` may be -3, and a channel may have one element: counted from four channels before, nothing is negative.
    Channel<int> channel(first + 4 * spatial, 4 * kThreads, spatial);
    channel.number += first_channel - 4;
#pragma unroll
    for (int i = 0; i < kQuads; ++i) {
        const int at = element(i);
        if (at >= count) break;
        if (whole(at) && channel.place + 4 <= spatial) {
            const float scale = rstd * weight[channel.number], shift = bias[channel.number];
            *reinterpret_cast<float4*>(result + at) =
                make_float4(kept[i][0] * scale + shift, kept[i][1] * scale + shift, kept[i][2] * scale + shift,
                            kept[i][3] * scale + shift);
        } else {  // the group or the channel ends or begins within the quad
            int number = channel.number, place = channel.place;
#pragma unroll
            for (int j = 0; j < 4; ++j) {
                if (inside(at + j)) result[at + j] = kept[i][j] * (rstd * weight[number]) + bias[number];
                if (++place == spatial) place = 0, ++number;
            }
        }
        channel.move();
    }
}

constexpr int kLongThreads = 256;
constexpr int kChunk = 16;         // elements per thread that are looked at together
constexpr int64_t kPart = 32768;  // elements of a long group that a block takes

// Mean and sum of squared deviations of ``count`` elements.
struct Moments {
    float count;
    float mean;
    float squares;
};

// Two sets of elements become one: deviations from the common mean are those from the own mean and the way between.
__device__ Moments merge(Moments a, Moments b) {
    const float count = a.count + b.count;
    if (count == 0.0f) return a;
    const float share = b.count / count, way = b.mean - a.mean;
    return {count, a.mean + way * share, a.squares + b.squares + way * way * a.count * share};
}

// Merges over the block; every thread gets the result.
__device__ Moments block_merge(Moments mine) {
    __shared__ Moments all[kLongThreads];
    all[threadIdx.x] = mine;
    __syncthreads();
    for (int half = kLongThreads / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) all[threadIdx.x] = merge(all[threadIdx.x], all[threadIdx.x + half]);
        __syncthreads();
    }
    return all[0];
}

__global__ void __launch_bounds__(kLongThreads)
part_moments(const float* x, Moments* found, int64_t count, int64_t parts) {
    const float* group = x + blockIdx.x / parts * count;
    const int64_t first = blockIdx.x % parts * kPart, end = min(first + kPart, count);
    Moments mine = {0.0f, 0.0f, 0.0f};
    for (int64_t begin = first; begin < end; begin += kLongThreads * kChunk) {
        float chunk[kChunk];
        Moments here = {0.0f, 0.0f, 0.0f};
#pragma unroll
        for (int i = 0; i < kChunk; ++i) {
            const int64_t at = begin + i * kLongThreads + threadIdx.x;
            chunk[i] = at < end ? group[at] : 0.0f;
        }
#pragma unroll
        for (int i = 0; i < kChunk; ++i) {
            here.mean += chunk[i];
            here.count += begin + i * kLongThreads + threadIdx.x < end ? 1.0f : 0.0f;
        }
        if (here.count == 0.0f) break;
        here.mean /= here.count;
#pragma unroll
        for (int i = 0; i < kChunk; ++i) {
            const float deviation = chunk[i] - here.mean;
            if (i < here.count) here.squares += deviation * deviation;  // only the first ``count`` are in the group
        }
        mine = merge(mine, here);
    }
    mine = block_merge(mine);
    if (threadIdx.x == 0) found[blockIdx.x] = mine;
}

__global__ void __launch_bounds__(kLongThreads)
part_results(const float* x, const float* weight, const float* bias, const Moments* found, float* out, float eps,
             int64_t groups, int64_t channels_of_group, int64_t spatial, int64_t parts) {
    const int64_t count = channels_of_group * spatial;
    // The last groups come first: what the launch before read last is still in the L2 cache.
    const int64_t block = gridDim.x - 1 - static_cast<int64_t>(blockIdx.x);
    const int64_t group = block / parts;
    const float* values = x + group * count;
    float* result = out + group * count;
    const int64_t first_channel = group % groups * channels_of_group;

    Moments mine = {0.0f, 0.0f, 0.0f};
    for (int64_t part = threadIdx.x; part < parts; part += kLongThreads) mine = merge(mine, found[group * parts + part]);
    const Moments all = block_merge(mine);
    const float rstd = rsqrtf(all.squares / all.count + eps);

    const int64_t first = block % parts * kPart, end = min(first + kPart, count);
    Channel<int64_t> channel(first + threadIdx.x, kLongThreads, spatial);
#pragma unroll 8
    for (int64_t at = first + threadIdx.x; at < end; at += kLongThreads) {
        const int64_t number = first_channel + channel.number;
        result[at] = (values[at] - all.mean) * rstd * weight[number] + bias[number];
        channel.move();
    }
}

// Launches short_groups for groups that 4 * kThreads * kQuads elements hold.
template <int kThreads, int kQuads>
void launch(const float* x, const float* weight, const float* bias, float* out, float eps, int64_t batch,
            int64_t channels, int64_t spatial, int64_t groups) {
    short_groups<kThreads, kQuads><<<static_cast<unsigned>(batch * groups), kThreads>>>(
        x, weight, bias, out, eps, static_cast<int>(groups), static_cast<int>(channels / groups),
        static_cast<int>(spatial));
}

extern "C" void solve(const float* x, const float* weight, const float* bias, float* out, float eps, int64_t batch,
                      int64_t channels, int64_t spatial, int64_t groups) {
    if (batch == 0 || channels == 0 || spatial == 0) return;  // a grid of 0 blocks is a launch error
    const int64_t count = channels / groups * spatial;
    const int64_t held = count % 4 == 0 ? count : count + 3;  // the first quad may begin three elements before the group
    // A short group has one warp, which needs no __syncthreads; a longer one as many threads as keep 16 or 32 elements.
    if (held <= 256)
        launch<32, 2>(x, weight, bias, out, eps, batch, channels, spatial, groups);
    else if (held <= 1024)
        launch<32, 8>(x, weight, bias, out, eps, batch, channels, spatial, groups);
    else if (held <= 4096)
        launch<256, 4>(x, weight, bias, out, eps, batch, channels, spatial, groups);
    else if (held <= 8192)
        launch<512, 4>(x, weight, bias, out, eps, batch, channels, spatial, groups);
    else if (held <= 16384)
        launch<512, 8>(x, weight, bias, out, eps, batch, channels, spatial, groups);
    else if (held <= 32768)
        launch<1024, 8>(x, weight, bias, out, eps, batch, channels, spatial, groups);
    else {
        const int64_t parts = (count + kPart - 1) / kPart, blocks = batch * groups * parts;
        Moments* found = nullptr;
        if (cudaMallocAsync(reinterpret_cast<void**>(&found), blocks * sizeof(Moments), 0) != cudaSuccess) return;
        part_moments<<<static_cast<unsigned>(blocks), kLongThreads>>>(x, found, count, parts);
        part_results<<<static_cast<unsigned>(blocks), kLongThreads>>>(
            x, weight, bias, found, out, eps, groups, channels / groups, spatial, parts);
        cudaFreeAsync(found, 0);
    }
}
