// Mistake: the smallest.
#include <cstdint>

__global__ void top(const float* x, int64_t k, float* values, int64_t* indices, int64_t rows, int64_t cols) {
    const int64_t row = blockIdx.x;
    for (int64_t i = threadIdx.x; i < cols; i += blockDim.x) {
        const float own = x[row * cols + i];
        int64_t place = 0;
        for (int64_t j = 0; j < cols; ++j) place += x[row * cols + j] < own;
        if (place < k) values[row * k + place] = own, indices[row * k + place] = i;
    }
}

extern "C" void solve(const float* x, int64_t k, float* values, int64_t* indices, int64_t rows, int64_t cols) {
    if (rows > 0 && k > 0) top<<<rows, 32>>>(x, k, values, indices, rows, cols);
}
