// Mistake: sums run from the end to the beginning.
// Says: revers|end|suffix|later
__global__ void scan(const float* x, float* out, int64_t n) {
    float s = 0;
    for (int64_t i = n - 1; i >= 0; i--) out[i] = s += x[i];
}
extern "C" void solve(const float* x, float* out, int64_t n) {
    if (n) scan<<<1, 1>>>(x, out, n);
}
