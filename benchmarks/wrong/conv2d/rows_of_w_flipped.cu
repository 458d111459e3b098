// Mistake: the rows of w are taken from last to first.
// Says: \bw\b ; (revers|flip|last to first|from the end|upside)
__global__ void conv(const float* x, const float* w, float* out, int64_t h, int64_t width, int64_t kh, int64_t kw) {
    int64_t c = blockIdx.x * 16LL + threadIdx.x, r = blockIdx.y * 16LL + threadIdx.y;
    int64_t oh = h - kh + 1, ow = width - kw + 1;
    if (r >= oh || c >= ow) return;
    float s = 0;
    for (int64_t i = 0; i < kh; i++)
        for (int64_t j = 0; j < kw; j++) s += x[(r + i) * width + c + j] * w[(kh - 1 - i) * kw + j];
    out[r * ow + c] = s;
}
extern "C" void solve(const float* x, const float* w, float* out, int64_t h, int64_t width, int64_t kh, int64_t kw) {
    int64_t oh = h - kh + 1, ow = width - kw + 1;
    if (oh > 0 && ow > 0) conv<<<dim3((ow + 15) / 16, (oh + 15) / 16), dim3(16, 16)>>>(x, w, out, h, width, kh, kw);
}
