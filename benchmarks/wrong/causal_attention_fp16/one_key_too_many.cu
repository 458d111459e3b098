// Mistake: each query also sees the key after its own.
// Says: (i \+ 1|one (too many|more|later)|next|> ?=|>=|later)
#include <cstdint>
#include <cuda_runtime.h>
#include <cuda_fp16.h>
__global__ void attention(const __half* q, const __half* k, const __half* v, __half* out, float scale, int64_t seq, int64_t dim) {
    int64_t i = blockIdx.x, h = blockIdx.y * seq * dim, d = threadIdx.x;
    float top = -INFINITY;
    int64_t end = min(i + 2, seq);
    for (int pass = 0; pass < 2; pass++) {
        float sum = 0, total = 0;
        for (int64_t j = 0; j < end; j++) {
            float s = 0;
            for (int64_t e = 0; e < dim; e++) s += __half2float(q[h + i * dim + e]) * __half2float(k[h + j * dim + e]);
            s *= scale;
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
