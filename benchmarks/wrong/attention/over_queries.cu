// Mistake: each weight is divided by the sum over the queries instead of the sum over the keys.
// Says: (axis|quer|column|along|dimension|other (way|index)|transposed|rows and columns) ; (sum|softmax|normal|weights|total|divi)
#include <cstdint>
#include <cuda_runtime.h>
__global__ void attention(const float* q, const float* k, const float* v, float* out, float scale, int64_t seq, int64_t dim) {
    int64_t i = blockIdx.x, h = blockIdx.y * seq * dim, d = threadIdx.x;
    float sum = 0;
    for (int64_t j = 0; j < seq; j++) {
        float own = 0, total = 0;
        for (int64_t o = 0; o < seq; o++) {
            float s = 0;
            for (int64_t e = 0; e < dim; e++) s += q[h + o * dim + e] * k[h + j * dim + e];
            float weight = expf(s * scale);
            total += weight;
            if (o == i) own = weight;
        }
        sum += own / total * v[h + j * dim + d];
    }
    out[h + i * dim + d] = sum;
}
extern "C" void solve(const float* q, const float* k, const float* v, float* out, float scale, int64_t heads, int64_t seq, int64_t dim) {
    if (heads * seq * dim) attention<<<dim3(seq, heads), dim>>>(q, k, v, out, scale, seq, dim);
}
