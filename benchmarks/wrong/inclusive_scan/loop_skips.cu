// Mistake: the serial loop begins a block's part one too late, so each block's first element is not added.
// Says: (first|256|begins|left out)
__global__ void scan(const float* x, float* out, int64_t n) {
    float s = 0;
    for (int64_t i = 0; i < n; i++) {
        if (i % 256 != 0) s += x[i];
        out[i] = s;
    }
}
extern "C" void solve(const float* x, float* out, int64_t n) {
    if (n) scan<<<1, 1>>>(x, out, n);
}
