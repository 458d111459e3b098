// A thread for each position of a head: a warp's accesses lie a row apart.
#include <cstdint>
#include <cuda_runtime.h>

__global__ void rope(const float* x, const float* cosines, const float* sines, float* out, int64_t rows, int64_t seq,
                     int64_t half) {
    const int64_t row = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    const float* from = x + row * 2 * half;
    float* to = out + row * 2 * half;
    for (int64_t i = 0; i < half; ++i) {
        const float cosine = cosines[row % seq * half + i], sine = sines[row % seq * half + i];
        to[i] = from[i] * cosine - from[half + i] * sine;
        to[half + i] = from[half + i] * cosine + from[i] * sine;
    }
}

extern "C" void solve(const float* x, const float* cos, const float* sin, float* out, int64_t heads, int64_t seq,
                      int64_t dim) {
    const int64_t rows = heads * seq;
    if (rows && dim) rope<<<static_cast<unsigned>((rows + 127) / 128), 128>>>(x, cos, sin, out, rows, seq, dim / 2);
}
