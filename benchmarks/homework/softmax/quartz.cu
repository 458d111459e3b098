#include <cuda_runtime.h>
#include <cstdint>

// 8 rows x 32 lanes in a block; each lane holds its slice of a short row in an array, long rows are streamed.
__global__ void eight_rows(const float* in, float* out, int64_t rows, int64_t cols) {
    const int lane = threadIdx.x;
    const int64_t line = blockIdx.x * 8LL + threadIdx.y;
    if (line >= rows) return;
    const float* from = in + line * cols;
    float* into = out + line * cols;
    if (cols <= 128) {
        float keep[4];
        float peak = -INFINITY;
        for (int k = 0; k < 4; k++) {
            keep[k] = lane + 32 * k < cols ? from[lane + 32 * k] : -INFINITY;
            peak = keep[k] > peak ? keep[k] : peak;
        }
        for (int hop = 1; hop <= 16; hop <<= 1) {
            float theirs = __shfl_xor_sync(0xffffffff, peak, hop);
            peak = theirs > peak ? theirs : peak;
        }
        float weight = 0.0f;
        for (int k = 0; k < 4; k++)
            if (lane + 32 * k < cols) weight += keep[k] = expf(keep[k] - peak);
        for (int hop = 1; hop <= 16; hop <<= 1) weight += __shfl_xor_sync(0xffffffff, weight, hop);
        for (int k = 0; k < 4; k++)
            if (lane + 32 * k < cols) into[lane + 32 * k] = keep[k] / weight;
        return;
    }
    float peak = -INFINITY, weight = 0.0f;
    for (int64_t c = lane; c < cols; c += 32) {
        float value = from[c];
        if (value > peak) {
            weight = peak == -INFINITY && weight == 0.0f ? 1.0f : weight * expf(peak - value) + 1.0f;
            peak = value;
            if (isinf(value)) weight = NAN;
        } else if (value != -INFINITY) {
            weight += expf(value - peak);
        }
    }
    for (int hop = 16; hop; hop >>= 1) {
        float p2 = __shfl_xor_sync(0xffffffff, peak, hop), w2 = __shfl_xor_sync(0xffffffff, weight, hop);
        float high = fmaxf(peak, p2);
        float mine = weight == 0.0f ? 0.0f : weight * expf(peak - high);
        float other = w2 == 0.0f ? 0.0f : w2 * expf(p2 - high);
        weight = mine + other;
        peak = high;
    }
    for (int64_t c = lane; c < cols; c += 32) into[c] = expf(from[c] - peak) / weight;
}

extern "C" void solve(const float* x, float* out, int64_t rows, int64_t cols) {
    if (rows > 0 && cols > 0) eight_rows<<<(unsigned)((rows + 7) / 8), dim3(32, 8)>>>(x, out, rows, cols);
}
