// Mistake: writes one result for each lane of a warp: the 33rd and later ones are missing.
#include <cstdint>
#include <cuda_runtime.h>

__device__ uint64_t key_of(float value, uint32_t column) {
    const uint32_t bits = __float_as_uint(value + 0.0f);
    uint32_t order = bits & 0x80000000u ? ~bits : bits | 0x80000000u;
    if (value != value) order = 0xffffffffu;
    return static_cast<uint64_t>(order) << 32 | (0x7fffffffu - column);
}

// One warp per row, and one pass for each result.
__global__ void topk(const float* x, float* values, int32_t* indices, int64_t cols, int64_t k) {
    const float* row = x + blockIdx.x * cols;
    uint64_t last = ~0ull;
    for (int64_t i = 0; i < min(k, static_cast<int64_t>(32)); ++i) {
        uint64_t best = 0;
        for (int64_t c = threadIdx.x; c < cols; c += 32) {
            const uint64_t key = key_of(row[c], static_cast<uint32_t>(c));
            if (key < last && key > best) best = key;
        }
        for (int step = 16; step > 0; step /= 2) best = max(best, __shfl_xor_sync(0xffffffffu, best, step));
        last = best;
        if (threadIdx.x) continue;
        const int32_t column = 0x7fffffff - static_cast<int32_t>(best & 0x7fffffffu);
        values[blockIdx.x * k + i] = row[column];
        indices[blockIdx.x * k + i] = column;
    }
}

extern "C" void solve(const float* x, float* values, int32_t* indices, int64_t rows, int64_t cols, int64_t k) {
    if (rows) topk<<<static_cast<unsigned>(rows), 32>>>(x, values, indices, cols, k);
}
