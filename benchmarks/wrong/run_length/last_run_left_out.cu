// Mistake: a run is written when the next one begins, and the last run has no next one.
// Says: (count|run|last) ; (1 (less|fewer|too)|one (less|fewer|too)|last|missing|left out|0 is not)
#include <cstdint>
#include <cuda_runtime.h>

__global__ void encode(const int32_t* x, int32_t* values, int32_t* lengths, int64_t* count, int64_t n) {
    int64_t runs = 0;
    int32_t length = 0;
    for (int64_t i = 0; i < n; ++i) {
        if (i > 0 && x[i] != x[i - 1]) {
            values[runs] = x[i - 1];
            lengths[runs++] = length;
            length = 0;
        }
        ++length;
    }
    *count = runs;
}

extern "C" void solve(const int32_t* x, int32_t* values, int32_t* lengths, int64_t* count, int64_t n) {
    encode<<<1, 1>>>(x, values, lengths, count, n);
}
