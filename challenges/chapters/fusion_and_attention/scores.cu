#include <cstdint>

__global__ void score(const float* q, const float* k, float* scores, float scale, int64_t seq, int64_t dim) {
    int64_t j = threadIdx.x, i = blockIdx.x % seq, head = blockIdx.x / seq;
    float sum = 0;
    for (int64_t d = 0; d < dim; d++) sum += q[(head * seq + i) * dim + d] * k[(head * seq + j) * dim + d];
    scores[(head * seq + i) * seq + j] = scale * sum;
}

__global__ void weigh(const float* scores, const float* v, float* out, int64_t seq, int64_t dim) {
    int64_t d = threadIdx.x, row = blockIdx.x, head = row / seq;
    float top = scores[row * seq], sum = 0, result = 0;
    for (int64_t j = 0; j < seq; j++) top = fmaxf(top, scores[row * seq + j]);
    for (int64_t j = 0; j < seq; j++) {
        float weight = expf(scores[row * seq + j] - top);
        sum += weight;
        result += weight * v[(head * seq + j) * dim + d];
    }
    out[row * dim + d] = result / sum;
}

extern "C" void solve(const float* q, const float* k, const float* v, float* out, float scale, int64_t heads,
                      int64_t seq, int64_t dim) {
    float* scores;
    cudaMalloc(&scores, heads * seq * seq * sizeof(float));
    score<<<heads * seq, seq>>>(q, k, scores, scale, seq, dim);
    weigh<<<heads * seq, dim>>>(scores, v, out, seq, dim);
    cudaFree(scores);
}
