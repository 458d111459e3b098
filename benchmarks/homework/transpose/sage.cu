#include <cuda_runtime.h>
#include <cstdint>

// Recursive splitting on the host until a piece fits one block (cache-oblivious, as in the algorithms course).
__global__ void leaf(const float* x, float* out, int64_t rows, int64_t cols, int64_t r0, int64_t r1, int64_t c0, int64_t c1)
{
    int64_t w = c1 - c0, area = (r1 - r0) * w;
    for (int64_t k = threadIdx.x; k < area; k += blockDim.x) {
        int64_t r = r0 + k / w, c = c0 + k % w;
        out[c * rows + r] = x[r * cols + c];
    }
}

static void split(const float* x, float* out, int64_t rows, int64_t cols, int64_t r0, int64_t r1, int64_t c0, int64_t c1)
{
    int64_t dr = r1 - r0, dc = c1 - c0;
    if (dr <= 0 || dc <= 0) return;
    if (dr * dc <= 16384) {
        leaf<<<1, 256>>>(x, out, rows, cols, r0, r1, c0, c1);
    } else if (dr > dc) {
        split(x, out, rows, cols, r0, r0 + dr / 2, c0, c1);
        split(x, out, rows, cols, r0 + dr / 2, r1, c0, c1);
    } else {
        split(x, out, rows, cols, r0, r1, c0, c0 + dc / 2);
        split(x, out, rows, cols, r0, r1, c0 + dc / 2, c1);
    }
}

extern "C" void solve(const float* x, float* out, int64_t rows, int64_t cols) { split(x, out, rows, cols, 0, rows, 0, cols); }
