// Mistake: when the maximum rises, the accumulator is rescaled and the sum of weights is not.
// Says: (sum|rescal|maximum|factor|norm)
#include <cstdint>
__global__ void attention(const float* q, const float* k, const float* v, float* out, float scale, int64_t seq, int64_t dim) {
    int64_t h = blockIdx.y, i = blockIdx.x * 64LL + threadIdx.x;
    if (i >= seq) return;
    const float *Q = q + (h * seq + i) * dim, *K = k + h * seq * dim, *V = v + h * seq * dim;
    float* o = out + (h * seq + i) * dim;
    float top = -INFINITY, sum = 0;
    for (int64_t d = 0; d < dim; d++) o[d] = 0;
    for (int64_t j = 0; j < seq; j++) {
        float s = 0;
        for (int64_t d = 0; d < dim; d++) s += Q[d] * K[j * dim + d];
        s *= scale;
        float higher = fmaxf(top, s), old = expf(top - higher), p = expf(s - higher);
        sum += p;
        for (int64_t d = 0; d < dim; d++) o[d] = o[d] * old + p * V[j * dim + d];
        top = higher;
    }
    for (int64_t d = 0; d < dim; d++) o[d] /= sum;
}
extern "C" void solve(const float* q, const float* k, const float* v, float* out, float scale, int64_t heads, int64_t seq, int64_t dim) {
    if (heads && seq && dim) attention<<<dim3((seq + 63) / 64, heads), 64>>>(q, k, v, out, scale, seq, dim);
}
