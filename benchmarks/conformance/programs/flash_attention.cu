// Attention without the matrix of scores: a block takes some queries, keys and values come by tiles, softmax is online.
#include <cmath>
#include <cstdio>
#include <cuda_runtime.h>
#include <vector>

constexpr int HEAD = 32, TILE = 32;

__global__ void attention(const float* q, const float* k, const float* v, float* out, int length, float scale) {
    __shared__ float keys[TILE][HEAD + 1], values[TILE][HEAD + 1];
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    float query[HEAD], sum[HEAD], most = -INFINITY, total = 0;
    for (int d = 0; d < HEAD; d++) { query[d] = row < length ? q[row * HEAD + d] : 0; sum[d] = 0; }
    for (int start = 0; start < length; start += TILE) {
        for (int i = threadIdx.x; i < TILE * HEAD; i += blockDim.x) {
            int at = start + i / HEAD;
            keys[i / HEAD][i % HEAD] = at < length ? k[at * HEAD + i % HEAD] : 0;
            values[i / HEAD][i % HEAD] = at < length ? v[at * HEAD + i % HEAD] : 0;
        }
        __syncthreads();
        int here = min(TILE, length - start);
        float scores[TILE], largest = most;
        for (int j = 0; j < here; j++) {
            float dot = 0;
            for (int d = 0; d < HEAD; d++) dot += query[d] * keys[j][d];
            scores[j] = dot * scale;
            largest = fmaxf(largest, scores[j]);
        }
        float correction = expf(most - largest);
        total *= correction;
        for (int d = 0; d < HEAD; d++) sum[d] *= correction;
        for (int j = 0; j < here; j++) {
            float weight = expf(scores[j] - largest);
            total += weight;
            for (int d = 0; d < HEAD; d++) sum[d] += weight * values[j][d];
        }
        most = largest;
        __syncthreads();
    }
    if (row < length) for (int d = 0; d < HEAD; d++) out[row * HEAD + d] = sum[d] / total;
}

int main() {
    const int length = 100;
    std::vector<float> host(3 * length * HEAD), result(length * HEAD);
    for (size_t i = 0; i < host.size(); i++) host[i] = (i * 61 % 127) / 63.0f - 1;
    float *in, *out;
    cudaMalloc(&in, host.size() * sizeof(float));
    cudaMalloc(&out, result.size() * sizeof(float));
    cudaMemcpy(in, host.data(), host.size() * sizeof(float), cudaMemcpyHostToDevice);
    attention<<<(length + 31) / 32, 32>>>(in, in + length * HEAD, in + 2 * length * HEAD, out, length, 1 / sqrtf(HEAD));
    cudaMemcpy(result.data(), out, result.size() * sizeof(float), cudaMemcpyDeviceToHost);
    double checksum = 0, worst = 0;
    for (int row = 0; row < length; row += 9) {
        std::vector<double> weights(length);
        double total = 0;
        for (int j = 0; j < length; j++) {
            double dot = 0;
            for (int d = 0; d < HEAD; d++) dot += static_cast<double>(host[row * HEAD + d]) * host[(length + j) * HEAD + d];
            total += weights[j] = exp(dot / sqrt(static_cast<double>(HEAD)));
        }
        for (int d = 0; d < HEAD; d++) {
            double sum = 0;
            for (int j = 0; j < length; j++) sum += weights[j] * host[(2 * length + j) * HEAD + d];
            worst = fmax(worst, fabs(sum / total - result[row * HEAD + d]));
        }
    }
    for (size_t i = 0; i < result.size(); i++) checksum += result[i] * (i % 7 + 1.0);
    printf("attention: first %.4f, checksum %.2f, %s\n", result[0], checksum, worst < 1e-5 ? "right" : "wrong");
    cudaFree(in);
    cudaFree(out);
    return worst >= 1e-5;
}
