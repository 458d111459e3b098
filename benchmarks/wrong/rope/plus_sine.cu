// Mistake: the first element adds the product with the sine.
// Says: (sign|minus|subtract|negat|added| - )
#include <cstdint>
#include <cuda_runtime.h>

__global__ void rope(const float* x, const float* cosines, const float* sines, float* out, int64_t heads, int64_t seq,
                     int64_t half) {
    const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i >= heads * seq * half) return;
    const int64_t row = i / half, column = i % half;
    const int64_t first = row * 2 * half + column, second = first + half;
    const float cosine = cosines[row % seq * half + column], sine = sines[row % seq * half + column];
    const float a = x[first], b = x[second];
    out[first] = a * cosine + b * sine;
    out[second] = b * cosine + a * sine;
}

extern "C" void solve(const float* x, const float* cos, const float* sin, float* out, int64_t heads, int64_t seq,
                      int64_t dim) {
    const int64_t pairs = heads * seq * (dim / 2);
    if (pairs) rope<<<static_cast<unsigned>((pairs + 255) / 256), 256>>>(x, cos, sin, out, heads, seq, dim / 2);
}
