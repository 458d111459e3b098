// Convolution in one dimension: each thread computes results in fours, with a window of x in registers that moves along.
#include <cstdint>
#include <cuda_runtime.h>

constexpr int kThreads = 256;
constexpr int kFours = 4;               // fours of results per thread, so that it has several loads under way
constexpr int kStep = kThreads * 4;     // from one four of a thread to its next
constexpr int kBlock = kStep * kFours;  // results of one block
// A thread with the results from i on reads x up to i + k + 6 at most, as it reads fours.
constexpr int kReach = 7;

__device__ float4 four(const float* values) { return *reinterpret_cast<const float4*>(values); }

// Adds one weight's products: the four results see four values, each one further on than the last.
__device__ void add(float4& sums, float a, float b, float c, float d, float weight) {
    sums.x += a * weight;
    sums.y += b * weight;
    sums.z += c * weight;
    sums.w += d * weight;
}

// All fours of a thread, of which the first begins at `first`; everything that it reads is within x.
__device__ void whole_fours(const float* __restrict__ x, const float* __restrict__ w, float* out, int64_t first,
                            int64_t k) {
    float4 sums[kFours], here[kFours];
#pragma unroll
    for (int f = 0; f < kFours; ++f) {
        sums[f] = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        here[f] = four(x + first + f * kStep);
    }
    // Four weights at a time need a window of seven values: the four that are here, and the next ones. Other threads
    // of the warp have just loaded those, so they come from the cache.
    int64_t t = 0;
    for (; t + 4 <= k; t += 4) {
        const float4 weights = four(w + t);
#pragma unroll
        for (int f = 0; f < kFours; ++f) {
            const float4 next = four(x + first + f * kStep + t + 4);
            add(sums[f], here[f].x, here[f].y, here[f].z, here[f].w, weights.x);
            add(sums[f], here[f].y, here[f].z, here[f].w, next.x, weights.y);
            add(sums[f], here[f].z, here[f].w, next.x, next.y, weights.z);
            add(sums[f], here[f].w, next.x, next.y, next.z, weights.w);
            here[f] = next;
        }
    }
    // Up to three weights are left. Filling up with zeros would be wrong: 0 * inf is NaN.
    const int left = static_cast<int>(k - t);
    if (left > 0) {
        const float first_weight = w[t];
        const float second_weight = left > 1 ? w[t + 1] : 0.0f;
        const float third_weight = left > 2 ? w[t + 2] : 0.0f;
#pragma unroll
        for (int f = 0; f < kFours; ++f) {
            const float4 next = four(x + first + f * kStep + t + 4);
            add(sums[f], here[f].x, here[f].y, here[f].z, here[f].w, first_weight);
            if (left > 1) add(sums[f], here[f].y, here[f].z, here[f].w, next.x, second_weight);
            if (left > 2) add(sums[f], here[f].z, here[f].w, next.x, next.y, third_weight);
        }
    }
#pragma unroll
    for (int f = 0; f < kFours; ++f) *reinterpret_cast<float4*>(out + first + f * kStep) = sums[f];
}

__global__ void convolve(const float* __restrict__ x, const float* __restrict__ w, float* out, int64_t n, int64_t k) {
    const int64_t first = static_cast<int64_t>(blockIdx.x) * kBlock + threadIdx.x * 4;
    if (first + (kFours - 1) * kStep + k + kReach <= n) {
        whole_fours(x, w, out, first, k);
        return;
    }
    // The end of the array: one result after the other.
    const int64_t count = n - k + 1;
    for (int f = 0; f < kFours; ++f) {
        for (int64_t i = first + f * kStep; i < first + f * kStep + 4 && i < count; ++i) {
            float sum = 0.0f;
            for (int64_t t = 0; t < k; ++t) sum += x[i + t] * w[t];
            out[i] = sum;
        }
    }
}

extern "C" void solve(const float* x, const float* w, float* out, int64_t n, int64_t k) {
    const int64_t count = n - k + 1;
    if (count <= 0) return;  // the weights fit nowhere; k = 0 is not special: empty sums are stored
    convolve<<<static_cast<unsigned>((count + kBlock - 1) / kBlock), kThreads>>>(x, w, out, n, k);
}
