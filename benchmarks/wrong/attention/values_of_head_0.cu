// Mistake: the offset of the head is missing for v.
// Says: \bv\b ; (head|\[0\])
#include <cuda_runtime.h>
#include <cmath>
#include <cstdint>

__global__ void attention(const float* q, const float* k, const float* v, float* out, float scale, int64_t seq, int64_t dim) {
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x, h = blockIdx.y;
    if (i >= seq) return;
    const float* qi = q + (h * seq + i) * dim;
    const float* kh = k + h * seq * dim;
    double top = -INFINITY;
    for (int64_t j = 0; j < seq; j++) {
        double s = 0;
        for (int64_t d = 0; d < dim; d++) s += (double)qi[d] * kh[j * dim + d];
        top = fmax(top, s * scale);
    }
    double sum = 0;
    for (int64_t j = 0; j < seq; j++) {
        double s = 0;
        for (int64_t d = 0; d < dim; d++) s += (double)qi[d] * kh[j * dim + d];
        sum += exp(s * scale - top);
    }
    for (int64_t e = 0; e < dim; e++) {
        double acc = 0;
        for (int64_t j = 0; j < seq; j++) {
            double s = 0;
            for (int64_t d = 0; d < dim; d++) s += (double)qi[d] * kh[j * dim + d];
            acc += exp(s * scale - top) / sum * v[j * dim + e];
        }
        out[(h * seq + i) * dim + e] = acc;
    }
}

extern "C" void solve(const float* q, const float* k, const float* v, float* out, float scale, int64_t heads, int64_t seq, int64_t dim) {
    if (heads && seq && dim) attention<<<dim3((seq + 63) / 64, heads), 64>>>(q, k, v, out, scale, seq, dim);
}
