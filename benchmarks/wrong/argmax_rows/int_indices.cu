// Mistake: indices are stored as 32-bit integers in an array of 64-bit ones.
// Says: (32|64|int64|8 bytes|4 bytes|half|never written)
#include <cstdint>
__global__ void argmax(const float* x, int* out, int64_t rows, int64_t cols) {
    int64_t r = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (r >= rows) return;
    float best = x[r * cols];
    int at = 0;
    for (int64_t c = 1; c < cols; c++) {
        float v = x[r * cols + c];
        if (best == best && !(v <= best)) best = v, at = (int)c;
    }
    out[r] = at;
}
extern "C" void solve(const float* x, int64_t* out, int64_t rows, int64_t cols) {
    if (rows) argmax<<<(rows + 127) / 128, 128>>>(x, (int*)out, rows, cols);
}
