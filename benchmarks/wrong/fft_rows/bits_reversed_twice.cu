// Mistake: bits are reversed at the end, too.
// Says: bit-reversed
#include <cstdint>
#include <cuda_runtime.h>

constexpr int kMost = 1024;
constexpr int kThreads = 128;

// A block for each row.
__global__ void transform(const float2* x, float2* out, int n, int bits) {
    __shared__ float2 row[kMost];
    const int64_t start = static_cast<int64_t>(blockIdx.x) * n;
    for (int i = threadIdx.x; i < n; i += kThreads) row[n > 1 ? __brev(i) >> (32 - bits) : 0] = x[start + i];
    __syncthreads();
    for (int half = 1; half < n; half *= 2) {
        for (int i = threadIdx.x; 2 * i < n; i += kThreads) {
            const int k = i % half, first = i / half * 2 * half + k;
            float sine, cosine;
            sincospif(-static_cast<float>(k) / half, &sine, &cosine);
            const float2 a = row[first], b = row[first + half];
            const float2 turned = make_float2(b.x * cosine - b.y * sine, b.x * sine + b.y * cosine);
            row[first] = make_float2(a.x + turned.x, a.y + turned.y);
            row[first + half] = make_float2(a.x - turned.x, a.y - turned.y);
        }
        __syncthreads();
    }
    for (int i = threadIdx.x; i < n; i += kThreads) out[start + (n > 1 ? __brev(i) >> (32 - bits) : 0)] = row[i];
}

extern "C" void solve(const float2* x, float2* out, int64_t rows, int64_t n) {
    int bits = 0;
    while (1 << bits < n) ++bits;
    if (rows) transform<<<static_cast<unsigned>(rows), kThreads>>>(x, out, static_cast<int>(n), bits);
}
