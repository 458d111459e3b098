// Mistake: count is one too large.
// Says: 1 (greater|more|too)|one (too|more)
__global__ void compact(const float* x, float* out, int64_t* count, int64_t n) {
    int64_t p = 0;
    for (int64_t i = 0; i < n; i++) if (x[i] > 0) out[p++] = x[i];
    *count = p + 1;
}
extern "C" void solve(const float* x, float* out, int64_t* count, int64_t n) {
    compact<<<1, 1>>>(x, out, count, n);
}
