// Mistake: there is no mask: each query sees all keys.
// Says: (causal|mask|later|all keys|j <= i|j > i)
#include <cuda_fp16.h>
__global__ void attention(const __half* q, const __half* k, const __half* v, __half* out, float scale, int64_t seq, int64_t dim) {
    int64_t h = blockIdx.y, i = blockIdx.x * 64LL + threadIdx.x;
    if (i >= seq) return;
    const __half *Q = q + (h * seq + i) * dim, *K = k + h * seq * dim, *V = v + h * seq * dim;
    float acc[256], top = -INFINITY, sum = 0;
    for (int64_t d = 0; d < dim; d++) acc[d] = 0;
    for (int64_t j = 0; j < seq; j++) {
        float s = 0;
        for (int64_t d = 0; d < dim; d++) s += __half2float(Q[d]) * __half2float(K[j * dim + d]);
        s *= scale;
        float new_top = fmaxf(top, s), old = expf(top - new_top), p = expf(s - new_top);
        sum = sum * old + p;
        for (int64_t d = 0; d < dim; d++) acc[d] = acc[d] * old + p * __half2float(V[j * dim + d]);
        top = new_top;
    }
    for (int64_t d = 0; d < dim; d++) out[(h * seq + i) * dim + d] = __float2half(acc[d] / sum);
}
extern "C" void solve(const __half* q, const __half* k, const __half* v, __half* out, float scale, int64_t heads, int64_t seq, int64_t dim) {
    if (heads && seq && dim) attention<<<dim3((seq + 63) / 64, heads), 64>>>(q, k, v, out, scale, seq, dim);
}
