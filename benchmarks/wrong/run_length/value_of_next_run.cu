// Mistake: a run gets the value of the run after it.
// Says: values ; (next|one place|shifted|too (early|late)|after|follow|place)
#include <cstdint>
#include <cuda_runtime.h>

__global__ void encode(const int32_t* x, int32_t* values, int32_t* lengths, int64_t* count, int64_t n) {
    int64_t runs = 0;
    int32_t length = 0;
    for (int64_t i = 0; i < n; ++i) {
        if (i > 0 && x[i] != x[i - 1]) {
            values[runs] = x[i];
            lengths[runs++] = length;
            length = 0;
        }
        ++length;
    }
    if (n > 0) {
        values[runs] = x[n - 1];
        lengths[runs++] = length;
    }
    *count = runs;
}

extern "C" void solve(const int32_t* x, int32_t* values, int32_t* lengths, int64_t* count, int64_t n) {
    encode<<<1, 1>>>(x, values, lengths, count, n);
}
