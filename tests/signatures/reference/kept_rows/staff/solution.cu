#include <cstdint>

__global__ void keep(double threshold, uint8_t mask, int64_t seed, const float* x, int64_t* count, float* kept,
                     int32_t* place, float* turned, int64_t* numbers, int64_t rows, int64_t cols) {
    int64_t found = 0;
    for (int64_t row = 0; row < rows; ++row) {
        if (!(x[row * cols] > threshold)) continue;
        for (int64_t i = 0; i < cols; ++i) {
            kept[found * cols + i] = x[row * cols + i];
            turned[i * rows + found] = x[row * cols + i];
        }
        place[found++] = row;
    }
    count[0] = found;
    numbers[0] = mask, numbers[1] = seed;
}

extern "C" void solve(double threshold, uint8_t mask, int64_t seed, const float* x, int64_t* count, float* kept,
                      int32_t* place, float* turned, int64_t* numbers, int64_t rows, int64_t cols) {
    keep<<<1, 1>>>(threshold, mask, seed, x, count, kept, place, turned, numbers, rows, cols);
}
