// Mistake: scores are divided by sqrt(dim); the argument scale is not used.
// Says: scale ; (no effect|never use|not used|unused|does not depend|ignor)
__global__ void attention(const float* q, const float* k, const float* v, float* out, float scale, int64_t seq, int64_t dim) {
    int64_t h = blockIdx.y, i = blockIdx.x * 64LL + threadIdx.x;
    if (i >= seq) return;
    const float *Q = q + (h * seq + i) * dim, *K = k + h * seq * dim, *V = v + h * seq * dim;
    float* o = out + (h * seq + i) * dim;
    float factor = 1.0f / sqrtf((float)dim), top = -INFINITY, sum = 0;
    for (int64_t j = 0; j < seq; j++) {
        float s = 0;
        for (int64_t d = 0; d < dim; d++) s += Q[d] * K[j * dim + d];
        top = fmaxf(top, s * factor);
    }
    for (int64_t d = 0; d < dim; d++) o[d] = 0;
    for (int64_t j = 0; j < seq; j++) {
        float s = 0;
        for (int64_t d = 0; d < dim; d++) s += Q[d] * K[j * dim + d];
        float p = expf(s * factor - top);
        sum += p;
        for (int64_t d = 0; d < dim; d++) o[d] += p * V[j * dim + d];
    }
    for (int64_t d = 0; d < dim; d++) o[d] /= sum;
}
extern "C" void solve(const float* q, const float* k, const float* v, float* out, float scale, int64_t heads, int64_t seq, int64_t dim) {
    if (heads && seq && dim) attention<<<dim3((seq + 63) / 64, heads), 64>>>(q, k, v, out, scale, seq, dim);
}
