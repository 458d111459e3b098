// Mistake: later keys are masked, as in causal attention.
// Says: causal|mask|later|j <= i|first
__global__ void attention(const float* q, const float* k, const float* v, float* out, float scale, int64_t seq, int64_t dim) {
    int64_t h = blockIdx.y, i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (i >= seq) return;
    const float* Q = q + (h * seq + i) * dim;
    float m = -INFINITY, s = 0;
    for (int64_t j = 0; j <= i; j++) {
        float d = 0;
        for (int64_t e = 0; e < dim; e++) d += Q[e] * k[(h * seq + j) * dim + e];
        m = fmaxf(m, d * scale);
    }
    float* o = out + (h * seq + i) * dim;
    for (int64_t e = 0; e < dim; e++) o[e] = 0;
    for (int64_t j = 0; j <= i; j++) {
        float d = 0;
        for (int64_t e = 0; e < dim; e++) d += Q[e] * k[(h * seq + j) * dim + e];
        float p = expf(d * scale - m);
        s += p;
        for (int64_t e = 0; e < dim; e++) o[e] += p * v[(h * seq + j) * dim + e];
    }
    for (int64_t e = 0; e < dim; e++) o[e] /= s;
}
extern "C" void solve(const float* q, const float* k, const float* v, float* out, float scale, int64_t heads, int64_t seq, int64_t dim) {
    if (heads && seq && dim) attention<<<dim3((seq + 63) / 64, heads), 64>>>(q, k, v, out, scale, seq, dim);
}
