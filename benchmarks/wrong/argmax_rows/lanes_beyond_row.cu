// Mistake: each lane begins with x[lane] without asking whether the row has that many columns.
// Says: (next row|past the end|beyond|outside|other row|>= cols|cols or more|not below cols)
__global__ void argmax(const float* x, int64_t* out, int64_t rows, int64_t cols) {
    int64_t r = blockIdx.x * 4LL + threadIdx.y;
    int lane = threadIdx.x;
    if (r >= rows) return;
    const float* row = x + r * cols;
    float best = row[lane]; // HERE
    int64_t at = lane;
    for (int64_t c = lane + 32; c < cols; c += 32)
        if (best == best && !(row[c] <= best)) best = row[c], at = c;
    for (int step = 16; step > 0; step /= 2) {
        float v = __shfl_down_sync(0xffffffffu, best, step);
        int64_t p = __shfl_down_sync(0xffffffffu, at, step);
        bool vn = v != v, bn = best != best;
        if ((vn && (!bn || p < at)) || (!vn && !bn && (v > best || (v == best && p < at)))) best = v, at = p;
    }
    if (lane == 0) out[r] = at;
}
extern "C" void solve(const float* x, int64_t* out, int64_t rows, int64_t cols) {
    if (rows) argmax<<<(rows + 3) / 4, dim3(32, 4)>>>(x, out, rows, cols);
}
