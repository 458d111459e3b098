// A thread for each element of out: each value and each element of b is read again for every row or column of out.
#include <cstdint>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

__global__ void multiply(const __half* values, const uint8_t* places, const __half* b, __half* out, int64_t n,
                         int64_t words) {
    const int64_t row = blockIdx.x, column = static_cast<int64_t>(blockIdx.y) * blockDim.x + threadIdx.x;
    if (column >= n) return;
    float sum = 0.0f;
    for (int64_t group = 0; group < 8 * words; ++group) {
        const int64_t number = row * 8 * words + group;
        const int bits = places[number / 2] >> (group % 2 * 4);
        for (int i = 0; i < 2; ++i) {
            const int place = bits >> (2 * i) & 3;
            const float value = __half2float(values[2 * number + i]);
            const float right = __half2float(b[(4 * group + place) * n + column]);
            sum += value * right;
        }
    }
    out[row * n + column] = __float2half(sum);
}

extern "C" void solve(const __half* values, const uint8_t* places, const __half* b, __half* out, int64_t m, int64_t n,
                      int64_t words) {
    if (m * n == 0) return;
    const dim3 grid(static_cast<unsigned>(m), static_cast<unsigned>((n + 127) / 128));
    multiply<<<grid, 128>>>(values, places, b, out, n, words);
}
