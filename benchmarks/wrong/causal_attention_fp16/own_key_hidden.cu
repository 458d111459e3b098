// Mistake: the loop over keys ends before i: a query does not see its own key.
// Says: (own key|itself|diagonal|j <= i|j < i|last key|one key too few|key i)
#include <cuda_fp16.h>
__global__ void attention(const __half* q, const __half* k, const __half* v, __half* out, float scale, int64_t seq, int64_t dim) {
    int64_t h = blockIdx.y, i = blockIdx.x * 64LL + threadIdx.x;
    if (i >= seq) return;
    const __half *Q = q + (h * seq + i) * dim, *K = k + h * seq * dim, *V = v + h * seq * dim;
    float acc[256], top = -INFINITY, sum = 0;
    for (int64_t d = 0; d < dim; d++) acc[d] = 0;
    for (int64_t j = 0; j < i; j++) {
        float s = 0;
        for (int64_t d = 0; d < dim; d++) s += __half2float(Q[d]) * __half2float(K[j * dim + d]);
        top = fmaxf(top, s * scale);
    }
    for (int64_t j = 0; j < i; j++) {
        float s = 0;
        for (int64_t d = 0; d < dim; d++) s += __half2float(Q[d]) * __half2float(K[j * dim + d]);
        float p = expf(s * scale - top);
        sum += p;
        for (int64_t d = 0; d < dim; d++) acc[d] += p * __half2float(V[j * dim + d]);
    }
    for (int64_t d = 0; d < dim; d++) out[(h * seq + i) * dim + d] = __float2half(acc[d] / sum);
}
extern "C" void solve(const __half* q, const __half* k, const __half* v, __half* out, float scale, int64_t heads, int64_t seq, int64_t dim) {
    if (heads && seq && dim) attention<<<dim3((seq + 63) / 64, heads), 64>>>(q, k, v, out, scale, seq, dim);
}
