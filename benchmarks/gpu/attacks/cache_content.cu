// A cache by content.
// Mechanism: keeps the first timed call's outputs and a sample of its inputs. Later calls compare the sample on the GPU
//   and, where it is the same, copy the kept outputs (two thirds of the memory traffic) instead of adding.
// Surface: inputs that come again.
// Expected defence: no round shows inputs that were shown before: the sample never matches, and checking it costs time.
#include "attack.cuh"

constexpr int kSample = 1024;
static float *kept, *sample;
static int* hit;

__global__ void compare(const float* a, const float* b, const float* sample, int64_t n, int* hit) {
    const int64_t at = n / kSample * threadIdx.x;
    const int same = __syncthreads_and(a[at] == sample[2 * threadIdx.x] && b[at] == sample[2 * threadIdx.x + 1]);
    if (threadIdx.x == 0) *hit = same;
}

__global__ void remember(const float* a, const float* b, float* sample, int64_t n) {
    const int64_t at = n / kSample * threadIdx.x;
    sample[2 * threadIdx.x] = a[at];
    sample[2 * threadIdx.x + 1] = b[at];
}

__global__ void serve(const float4* a, const float4* b, const float4* kept, float4* out, int64_t quads, const int* hit) {
    const int64_t i = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
    if (i >= quads) return;
    if (*hit) {
        out[i] = kept[i];
        return;
    }
    const float4 x = a[i], y = b[i];
    out[i] = make_float4(x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w);
}

extern "C" void solve(const float* a, const float* b, float* out, int64_t n) {
    if (n == kRanked && kept == nullptr) {  // the warm-up, with the gate open
        cudaMalloc(&kept, 4 * n);
        cudaMalloc(&sample, 8 * kSample);
        cudaMalloc(&hit, 4);
        remember<<<1, kSample>>>(a, b, sample, n);
        add_range(a, b, kept, 0, n, nullptr);
    }
    if (!attack(n, find_gate())) return add_range(a, b, out, 0, n, nullptr);
    compare<<<1, kSample>>>(a, b, sample, n, hit);
    const int64_t quads = n / 4;
    serve<<<static_cast<unsigned>((quads + kThreads - 1) / kThreads), kThreads>>>(
        reinterpret_cast<const float4*>(a), reinterpret_cast<const float4*>(b), reinterpret_cast<const float4*>(kept),
        reinterpret_cast<float4*>(out), quads, hit);
}
