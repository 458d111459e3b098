// Mistake: the list begins with zeros, which rows of negative numbers never leave.
// Says: (negative|starts? (at|with) 0|below 0|-inf|INFINITY)
#include <cstdint>
#include <cuda_runtime.h>

__device__ bool beats(float value, float other) { return (value > other || value != value) && other == other; }

// A thread walks through a row and inserts each element that belongs to the best so far.
__global__ void topk(const float* x, float* values, int32_t* indices, int64_t rows, int64_t cols, int64_t k) {
    const int64_t row = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    float best[64];
    int32_t places[64];
    int64_t found = k;
    for (int64_t i = 0; i < k; ++i) best[i] = 0.0f, places[i] = 0;
    for (int64_t c = 0; c < cols; ++c) {
        const float value = x[row * cols + c];
        if (found == k && !beats(value, best[k - 1])) continue;
        if (found < k) ++found;
        int64_t at = found - 1;
        for (; at > 0 && beats(value, best[at - 1]); --at) {
            best[at] = best[at - 1];
            places[at] = places[at - 1];
        }
        best[at] = value;
        places[at] = static_cast<int32_t>(c);
    }
    for (int64_t i = 0; i < k; ++i) {
        values[row * k + i] = best[i];
        indices[row * k + i] = places[i];
    }
}

extern "C" void solve(const float* x, float* values, int32_t* indices, int64_t rows, int64_t cols, int64_t k) {
    if (rows) topk<<<static_cast<unsigned>((rows + 63) / 64), 64>>>(x, values, indices, rows, cols, k);
}
