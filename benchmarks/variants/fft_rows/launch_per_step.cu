// A launch for each step: the whole of out is read and written log2(n) + 1 times.
#include <cstdint>
#include <cuda_runtime.h>

constexpr int kThreads = 256;

__global__ void reverse(const float2* x, float2* out, int64_t rows, int64_t n, int bits) {
    const int64_t i = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
    if (i >= rows * n) return;
    const unsigned place = static_cast<unsigned>(i % n);
    out[i] = x[i - place + (n > 1 ? __brev(place) >> (32 - bits) : 0)];
}

__global__ void step(float2* out, int64_t rows, int64_t n, int half) {
    const int64_t i = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
    if (i >= rows * (n / 2)) return;
    const int k = static_cast<int>(i % half);
    const int64_t first = i / half * 2 * half + k;
    float sine, cosine;
    sincospif(-static_cast<float>(k) / half, &sine, &cosine);
    const float2 a = out[first], b = out[first + half];
    const float2 turned = make_float2(b.x * cosine - b.y * sine, b.x * sine + b.y * cosine);
    out[first] = make_float2(a.x + turned.x, a.y + turned.y);
    out[first + half] = make_float2(a.x - turned.x, a.y - turned.y);
}

extern "C" void solve(const float2* x, float2* out, int64_t rows, int64_t n) {
    if (rows == 0) return;
    int bits = 0;
    while (1 << bits < n) ++bits;
    const int64_t numbers = rows * n, pairs = rows * (n / 2);
    reverse<<<static_cast<unsigned>((numbers + kThreads - 1) / kThreads), kThreads>>>(x, out, rows, n, bits);
    for (int half = 1; half < n; half *= 2)
        step<<<static_cast<unsigned>((pairs + kThreads - 1) / kThreads), kThreads>>>(out, rows, n, half);
}
