// A thread for each row of weights and token: a warp's loads lie a row apart.
#include <cstdint>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

__global__ void multiply(const __half* x, const uint8_t* weights, const __half* scales, const int8_t* zeros, float* out,
                         int64_t m, int64_t n, int64_t groups) {
    const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i >= m * n) return;
    const int64_t token = i / n, row = i % n;
    float total = 0.0f;
    for (int64_t group = 0; group < groups; ++group) {
        const int64_t number = row * groups + group;
        const uint32_t* words = reinterpret_cast<const uint32_t*>(weights + number * 64);
        const __half* part = x + (token * groups + group) * 128;
        const int zero = zeros[number];
        float sum = 0.0f;
        for (int word = 0; word < 16; ++word) {
            const uint32_t packed = words[word] ^ 0x88888888u;
            for (int j = 0; j < 8; ++j)
                sum += static_cast<float>(static_cast<int>(packed >> (4 * j) & 15) - 8 - zero) * __half2float(part[8 * word + j]);
        }
        total += __half2float(scales[number]) * sum;
    }
    out[i] = total;
}

extern "C" void solve(const __half* x, const uint8_t* weights, const __half* scales, const int8_t* zeros, float* out,
                      int64_t m, int64_t n, int64_t groups) {
    const int64_t elements = m * n;
    if (elements)
        multiply<<<static_cast<unsigned>((elements + 127) / 128), 128>>>(x, weights, scales, zeros, out, m, n, groups);
}
