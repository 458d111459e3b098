// Batch normalisation, forward pass in training. A small channel is one block's, which reads it once and keeps it in
// registers. A larger one is divided into parts for many blocks and read twice: moments first, then the result.
#include <cmath>
#include <cstdint>
#include <cuda_runtime.h>

constexpr int kFours = 8;  // a thread has this many loads of 16 bytes in flight
constexpr int kCount = 4 * kFours;
constexpr int kThreads = 256;
constexpr int64_t kPart = 8192;  // fours of a part, or more: no channel has more than kMostParts
constexpr int64_t kMostParts = 1024;

// Each plane, the elements of a channel in one image, is contiguous. The channel's next plane is channels * spatial
// elements further on. Loads are of aligned fours: if planes begin at no multiple of four, the first and the last four
// of a plane are partly outside.
struct Shape {
    int64_t channels, spatial;
    int64_t fours;  // of a plane, at most
    int64_t all;    // of a channel
};

// A thread's way through the fours of a channel, in equal steps. Two divisions at the start, additions from then on:
// a division for each four would take longer than the memory. Int: whether 32 bits are enough within a plane.
template <typename Int>
struct Walk {
    int64_t begin;  // of the plane, in x
    Int four;       // the number of the four in the plane
    int left;       // fours from here to the end of the part; none if it is 0 or less
    int64_t stride, step_begin;
    Int spatial, width, step_four;  // elements and fours of a plane
    int step;

    __device__ Walk(const Shape& shape, int64_t channel, int64_t number, int64_t end, int step)
        : left(static_cast<int>(end - number)), stride(shape.channels * shape.spatial),
          spatial(static_cast<Int>(shape.spatial)), width(static_cast<Int>(shape.fours)), step(step) {
        const int64_t planes = number / shape.fours, step_planes = step / shape.fours;
        begin = planes * stride + channel * shape.spatial, four = static_cast<Int>(number - planes * shape.fours);
        step_begin = step_planes * stride, step_four = static_cast<Int>(step - step_planes * shape.fours);
    }

    __device__ void move() {
        begin += step_begin, four += step_four, left -= step;
        if (four >= width) four -= width, begin += stride;
    }

    // The place of this four in the plane. The first four is at -1 to -3 if the plane is not aligned.
    __device__ Int first() const { return 4 * four - static_cast<Int>(begin & 3); }
    __device__ int64_t at() const { return begin + first(); }
    __device__ bool whole() const { return left > 0 && first() >= 0 && first() + 4 <= spatial; }
    __device__ bool holds(int j) const { return left > 0 && first() + j >= 0 && first() + j < spatial; }
};

// Reads kFours fours; 0 outside. Returns one bit for each element that is inside.
template <typename Int>
__device__ unsigned bring(const float* x, Walk<Int>& walk, float (&values)[kCount]) {
    unsigned inside = 0u;
#pragma unroll
    for (int i = 0; i < kFours; ++i) {
        const float* place = x + walk.at();
        float4 four = {};
        if (walk.whole()) {
            four = *reinterpret_cast<const float4*>(place);
            inside |= 15u << (4 * i);
        } else {
            if (walk.holds(0)) four.x = place[0], inside |= 1u << (4 * i);
            if (walk.holds(1)) four.y = place[1], inside |= 2u << (4 * i);
            if (walk.holds(2)) four.z = place[2], inside |= 4u << (4 * i);
            if (walk.holds(3)) four.w = place[3], inside |= 8u << (4 * i);
        }
        values[4 * i] = four.x, values[4 * i + 1] = four.y, values[4 * i + 2] = four.z, values[4 * i + 3] = four.w;
        walk.move();
    }
    return inside;
}

// Writes (value - mean) * scale + shift for each element that is inside.
template <typename Int>
__device__ void take(float* out, Walk<Int>& walk, const float (&values)[kCount], unsigned inside, float mean,
                     float scale, float shift) {
#pragma unroll
    for (int i = 0; i < kFours; ++i) {
        const unsigned bits = inside >> (4 * i) & 15u;
        float* place = out + walk.at();
        const float4 four = make_float4(
            (values[4 * i] - mean) * scale + shift, (values[4 * i + 1] - mean) * scale + shift,
            (values[4 * i + 2] - mean) * scale + shift, (values[4 * i + 3] - mean) * scale + shift);
        if (bits == 15u) {
            *reinterpret_cast<float4*>(place) = four;
        } else if (bits) {
            if (bits & 1u) place[0] = four.x;
            if (bits & 2u) place[1] = four.y;
            if (bits & 4u) place[2] = four.z;
            if (bits & 8u) place[3] = four.w;
        }
        walk.move();
    }
}

// The deviations first, then their squares: E[x^2] - E[x]^2 would lose every digit if the mean is large. Outside, the
// deviation would be -mean: it must not count.
__device__ float squares_of(const float (&values)[kCount], unsigned inside, float mean) {
    float squares = 0.0f;
    if (inside == ~0u) {  // nearly always: no questions
#pragma unroll
        for (int i = 0; i < kCount; ++i) squares += (values[i] - mean) * (values[i] - mean);
    } else {
#pragma unroll
        for (int i = 0; i < kCount; ++i)
            if (inside >> i & 1u) squares += (values[i] - mean) * (values[i] - mean);
    }
    return squares;
}

__device__ float sum_of(const float (&values)[kCount]) {
    float sum = 0.0f;  // an element outside is 0 and changes nothing
#pragma unroll
    for (int i = 0; i < kCount; ++i) sum += values[i];
    return sum;
}

// Adds up over the block; every thread gets the sum.
template <int kBlock>
__device__ float block_sum(float value) {
    for (int offset = 16; offset > 0; offset /= 2) value += __shfl_xor_sync(~0u, value, offset);
    if constexpr (kBlock > 32) {
        constexpr int kWarps = kBlock / 32;
        __shared__ float parts[kWarps];
        __syncthreads();  // a thread may still be reading the parts of the sum before
        if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = value;
        __syncthreads();
        value = parts[threadIdx.x % kWarps];
        for (int offset = kWarps / 2; offset > 0; offset /= 2) value += __shfl_xor_sync(~0u, value, offset);
    }
    return value;
}

// One block per channel of at most kBlock * kFours fours. Without elements, 0 / 0 gives the NaN that is asked for.
template <int kBlock>
__global__ void __launch_bounds__(kBlock)
small_channels(const float* x, const float* gamma, const float* beta, float* out, float* mean_out, float* rstd_out,
               float eps, Shape shape, int count) {
    const int64_t channel = blockIdx.x;
    const Walk<int> start(shape, channel, threadIdx.x, shape.all, kBlock);
    Walk<int> walk = start;
    float values[kCount];
    const unsigned inside = bring(x, walk, values);
    const float mean = block_sum<kBlock>(sum_of(values)) / count;
    const float rstd = rsqrtf(block_sum<kBlock>(squares_of(values, inside, mean)) / count + eps);
    walk = start;
    take(out, walk, values, inside, mean, rstd * gamma[channel], beta[channel]);
    if (threadIdx.x == 0) mean_out[channel] = mean, rstd_out[channel] = rstd;
}

// Some elements: how many, their sum, and the sum of their squared deviations from their own mean. A sum stays infinite
// once an infinity is in it; a mean that is moved on would become inf - inf.
struct Moments {
    float count, sum, squares;
};

// Two sets of elements become one: deviations from the common mean are those from the own mean and the way between.
__device__ Moments merge(Moments a, Moments b) {
    if (a.count == 0.0f) return b;
    if (b.count == 0.0f) return a;
    const float count = a.count + b.count, way = b.sum / b.count - a.sum / a.count;
    return {count, a.sum + b.sum, a.squares + b.squares + way * way * (a.count / count * b.count)};
}

__device__ Moments merge_warp(Moments mine) {
    for (int offset = 16; offset > 0; offset /= 2)
        mine = merge(mine, {__shfl_xor_sync(~0u, mine.count, offset), __shfl_xor_sync(~0u, mine.sum, offset),
                            __shfl_xor_sync(~0u, mine.squares, offset)});
    return mine;
}

// Merges over the block; every thread gets the result.
__device__ Moments merge_block(Moments mine) {
    __shared__ Moments warps[kThreads / 32];
    mine = merge_warp(mine);
    if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = mine;
    __syncthreads();
    mine = threadIdx.x % 32 < kThreads / 32 ? warps[threadIdx.x % 32] : Moments{0.0f, 0.0f, 0.0f};
    return merge_warp(mine);
}

// One block per part of a channel.
template <typename Int>
__global__ void __launch_bounds__(kThreads)
part_moments(const float* x, Moments* found, Shape shape, int64_t parts, int64_t part_fours) {
    const int64_t channel = blockIdx.x / parts, first = blockIdx.x % parts * part_fours;
    Walk<Int> walk(shape, channel, first + threadIdx.x, min(first + part_fours, shape.all), kThreads);
    Moments mine = {0.0f, 0.0f, 0.0f};
    while (walk.left > 0) {
        float values[kCount];
        const unsigned inside = bring(x, walk, values);
        const float count = __popc(inside), sum = sum_of(values);
        if (count > 0.0f) mine = merge(mine, {count, sum, squares_of(values, inside, sum / count)});
    }
    mine = merge_block(mine);
    if (threadIdx.x == 0) found[blockIdx.x] = mine;
}

template <typename Int>
__global__ void __launch_bounds__(kThreads)
part_results(const float* x, const float* gamma, const float* beta, const Moments* found, float* out, float* mean_out,
             float* rstd_out, float eps, Shape shape, int64_t parts, int64_t part_fours) {
    // The last parts come first: the launch before read them last, and the L2 cache still has them.
    const int64_t block = gridDim.x - 1 - static_cast<int64_t>(blockIdx.x);
    const int64_t channel = block / parts, first = block % parts * part_fours;
    // Each block merges the parts of its channel: cheaper than a third launch, and in the same order everywhere.
    Moments mine = {0.0f, 0.0f, 0.0f};
    for (int64_t part = threadIdx.x; part < parts; part += kThreads) mine = merge(mine, found[channel * parts + part]);
    const Moments all = merge_block(mine);
    const float mean = all.sum / all.count, rstd = rsqrtf(all.squares / all.count + eps);
    const float scale = rstd * gamma[channel], shift = beta[channel];
    if (first == 0 && threadIdx.x == 0) mean_out[channel] = mean, rstd_out[channel] = rstd;

    Walk<Int> walk(shape, channel, first + threadIdx.x, min(first + part_fours, shape.all), kThreads);
    while (walk.left > 0) {
        float values[kCount];
        Walk<Int> back = walk;
        const unsigned inside = bring(x, walk, values);
        take(out, back, values, inside, mean, scale, shift);
    }
}

template <typename Int>
void launch_parts(const float* x, const float* gamma, const float* beta, float* out, float* mean, float* rstd,
                  float eps, const Shape& shape) {
    const int64_t least = (shape.all + kMostParts - 1) / kMostParts, part_fours = least > kPart ? least : kPart;
    const int64_t parts = (shape.all + part_fours - 1) / part_fours;
    const unsigned blocks = static_cast<unsigned>(shape.channels * parts);
    Moments* found = nullptr;
    // In the order of the stream, like the launches: cudaMalloc would wait for the GPU.
    if (cudaMallocAsync(reinterpret_cast<void**>(&found), blocks * sizeof(Moments), 0) != cudaSuccess) return;
    part_moments<Int><<<blocks, kThreads>>>(x, found, shape, parts, part_fours);
    part_results<Int><<<blocks, kThreads>>>(x, gamma, beta, found, out, mean, rstd, eps, shape, parts, part_fours);
    cudaFreeAsync(found, 0);
}

extern "C" void solve(const float* x, const float* gamma, const float* beta, float* out, float* mean, float* rstd,
                      float eps, int64_t batch, int64_t channels, int64_t spatial) {
    if (channels == 0) return;  // a grid of 0 blocks is a launch error; channels without elements have results
    // Fours of a plane: if planes do not all begin at a multiple of four, one or two more than spatial / 4.
    const int64_t fours = spatial == 0 ? 1 : spatial % 4 == 0 ? spatial / 4 : spatial / 4 + 2;
    const Shape shape = {channels, spatial, fours, batch * fours};
    const unsigned blocks = static_cast<unsigned>(channels);
    const int count = static_cast<int>(batch * spatial);  // of a small channel
    if (shape.all <= 32 * kFours)
        small_channels<32><<<blocks, 32>>>(x, gamma, beta, out, mean, rstd, eps, shape, count);
    else if (shape.all <= kThreads * kFours)
        small_channels<kThreads><<<blocks, kThreads>>>(x, gamma, beta, out, mean, rstd, eps, shape, count);
    else if (spatial < int64_t{1} << 30)
        launch_parts<int>(x, gamma, beta, out, mean, rstd, eps, shape);
    else
        launch_parts<int64_t>(x, gamma, beta, out, mean, rstd, eps, shape);
}
