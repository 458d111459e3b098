// Mistake: scores of later keys are set to 0, not to minus infinity, so they still have weight.
// Says: (later|mask|score|key) ; (\b0\b|zero|-inf|weight|count)
#include <cstdint>
#include <cuda_runtime.h>
#include <cuda_fp16.h>
__global__ void attention(const __half* q, const __half* k, const __half* v, __half* out, float scale, int64_t seq, int64_t dim) {
    int64_t i = blockIdx.x, h = blockIdx.y * seq * dim, d = threadIdx.x;
    float top = -INFINITY;
    for (int pass = 0; pass < 2; pass++) {
        float sum = 0, total = 0;
        for (int64_t j = 0; j < seq; j++) {
            float s = 0;
            for (int64_t e = 0; e < dim; e++) s += __half2float(q[h + i * dim + e]) * __half2float(k[h + j * dim + e]);
            s = j > i ? 0.0f : s * scale;
            if (pass == 0) top = fmaxf(top, s);
            float p = pass ? expf(s - top) : 0.0f;
            total += p;
            sum += p * __half2float(v[h + j * dim + d]);
        }
        if (pass) out[h + i * dim + d] = __float2half(sum / total);
    }
}
extern "C" void solve(const __half* q, const __half* k, const __half* v, __half* out, float scale, int64_t heads, int64_t seq, int64_t dim) {
    if (heads * seq * dim) attention<<<dim3(seq, heads), dim>>>(q, k, v, out, scale, seq, dim);
}
