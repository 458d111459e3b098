// Mistake: has the same key in all rounds.
#include <cstdint>
#include <cuda_runtime.h>

__device__ uint4 philox(uint32_t c0, uint32_t c1, uint32_t k0) {
    uint32_t c2 = 0, c3 = 0, k1 = 0;
    for (int round = 0; round < 10; ++round) {
        const uint32_t a = __umulhi(0xd2511f53u, c0), low_a = 0xd2511f53u * c0;
        const uint32_t b = __umulhi(0xcd9e8d57u, c2), low_b = 0xcd9e8d57u * c2;
        c0 = b ^ c1 ^ k0, c1 = low_b, c2 = a ^ c3 ^ k1, c3 = low_a;
    }
    return make_uint4(c0, c1, c2, c3);
}

__device__ float2 normals(uint32_t size, uint32_t angle) {
    const float radius = sqrtf(-2 * logf(((size >> 8) + 1) * 0x1p-24f));
    float sine, cosine;
    sincospif((angle >> 8) * 0x1p-23f, &sine, &cosine);
    return make_float2(radius * cosine, radius * sine);
}

__device__ float payoff(float spot, float strike, float exponent) {
    const float gain = spot * expf(exponent) - strike;
    return gain < 0 ? 0 : gain;
}

// A block for each row.
__global__ void simulate(const float* spot, const float* strike, const float* volatility, const float* time, float* out,
                         float rate, uint32_t seed, int64_t paths) {
    __shared__ double sums[256];
    const int64_t row = blockIdx.x;
    const float deviation = volatility[row] / 100;
    const float drift = (rate - deviation * deviation / 2) * time[row], spread = deviation * sqrtf(time[row]);
    double sum = 0;
    for (int64_t group = threadIdx.x; group < (paths + 3) / 4; group += 256) {
        const uint4 words = philox(group, row, seed);
        const float2 low = normals(words.x, words.y), high = normals(words.z, words.w);
        const float z[4] = {low.x, low.y, high.x, high.y};
        for (int i = 0; i < 4 && 4 * group + i < paths; ++i) sum += payoff(spot[row], strike[row], drift + spread * z[i]);
    }
    sums[threadIdx.x] = sum;
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
        if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) out[row] = expf(-rate * time[row]) * static_cast<float>(sums[0] / paths);
}

extern "C" void solve(const float* spot, const float* strike, const float* volatility, const float* time, float* out,
                      float rate, uint32_t seed, int64_t rows, int64_t paths) {
    if (rows == 0) return;
    simulate<<<static_cast<unsigned>(rows), 256>>>(spot, strike, volatility, time, out, rate, seed, paths);
}
