// A thread walks through a row: a warp's loads lie a row apart.
#include <cmath>
#include <cstdint>
#include <cuda_runtime.h>

__device__ bool beats(float value, float best) { return !(value <= best) && best == best; }

__global__ void argmax(const float* x, int64_t* out, int64_t rows, int64_t cols) {
    const int64_t row = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    float best = -INFINITY;
    int64_t place = cols ? 0 : -1;
    for (int64_t i = 0; i < cols; ++i) {
        const float value = x[row * cols + i];
        if (beats(value, best)) best = value, place = i;
    }
    out[row] = place;
}

extern "C" void solve(const float* x, int64_t* out, int64_t rows, int64_t cols) {
    if (rows) argmax<<<static_cast<unsigned>((rows + 63) / 64), 64>>>(x, out, rows, cols);
}
