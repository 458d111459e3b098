// Rotary embedding: a thread has the same pairs in several heads, so that it loads cosine and sine once. Halves of a
// multiple of four elements go as float4.
#include <cstdint>
#include <cuda_runtime.h>

constexpr int kThreads = 256;
constexpr int kHeads = 4;  // heads per thread: so many times two loads are in flight

struct Pair {
    float first, second;
};

__device__ Pair turn(float first, float second, float cosine, float sine) {
    return {fmaf(first, cosine, -(second * sine)), fmaf(second, cosine, first * sine)};
}

__device__ void store_turned(float* first, float* second, float a, float b, float cosine, float sine) {
    const Pair turned = turn(a, b, cosine, sine);
    *first = turned.first;
    *second = turned.second;
}

__device__ void store_turned(float4* first, float4* second, float4 a, float4 b, float4 cosine, float4 sine) {
    const Pair x = turn(a.x, b.x, cosine.x, sine.x), y = turn(a.y, b.y, cosine.y, sine.y);
    const Pair z = turn(a.z, b.z, cosine.z, sine.z), w = turn(a.w, b.w, cosine.w, sine.w);
    *first = make_float4(x.first, y.first, z.first, w.first);
    *second = make_float4(x.second, y.second, z.second, w.second);
}

// Element is float or float4, and `half` counts elements of that type. `blocks` of them do one group of heads.
template <class Element>
__global__ void __launch_bounds__(kThreads)
rope(const Element* x, const Element* cosines, const Element* sines, Element* out, int64_t heads, int64_t seq,
     int64_t half, unsigned blocks) {
    const int64_t pair = static_cast<int64_t>(blockIdx.x % blocks) * kThreads + threadIdx.x;
    if (pair >= seq * half) return;
    const int64_t head = static_cast<int64_t>(blockIdx.x / blocks) * kHeads;
    // Pair number i of position s: the tables have half elements per position, x has twice as many.
    const int64_t first = head * seq * 2 * half + pair / half * 2 * half + pair % half;
    const int64_t next_head = seq * 2 * half;
    const Element cosine = cosines[pair], sine = sines[pair];

    Element a[kHeads], b[kHeads];  // all loads are on their way before the first is waited for
#pragma unroll
    for (int i = 0; i < kHeads; ++i) {
        if (head + i >= heads) break;
        a[i] = x[first + i * next_head];
        b[i] = x[first + i * next_head + half];
    }
#pragma unroll
    for (int i = 0; i < kHeads; ++i) {
        if (head + i >= heads) break;
        Element* result = out + first + i * next_head;
        store_turned(result, result + half, a[i], b[i], cosine, sine);
    }
}

template <class Element>
void launch(const float* x, const float* cosines, const float* sines, float* out, int64_t heads, int64_t seq,
            int64_t half) {
    const int64_t blocks = (seq * half + kThreads - 1) / kThreads;
    const int64_t groups = (heads + kHeads - 1) / kHeads;
    rope<Element><<<static_cast<unsigned>(blocks * groups), kThreads>>>(
        reinterpret_cast<const Element*>(x), reinterpret_cast<const Element*>(cosines),
        reinterpret_cast<const Element*>(sines), reinterpret_cast<Element*>(out), heads, seq, half,
        static_cast<unsigned>(blocks));
}

extern "C" void solve(const float* x, const float* cos, const float* sin, float* out, int64_t heads, int64_t seq,
                      int64_t dim) {
    if (heads == 0 || seq == 0 || dim == 0) return;  // a grid of 0 blocks is a launch error
    // Halves begin at a multiple of 16 bytes only if they have a multiple of four elements.
    if (dim % 8 == 0)
        launch<float4>(x, cos, sin, out, heads, seq, dim / 8);
    else
        launch<float>(x, cos, sin, out, heads, seq, dim / 2);
}
