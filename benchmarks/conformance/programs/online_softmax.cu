// Softmax of rows in one pass: each thread keeps a maximum and a sum, which are merged by shuffles and shared memory.
#include <cstdio>
#include <cuda_runtime.h>
#include <vector>

struct State { float most, sum; };
__device__ State merged(State a, State b) {
    State larger = a.most >= b.most ? a : b, smaller = a.most >= b.most ? b : a;
    larger.sum += smaller.sum * exp2f(smaller.most - larger.most);
    return larger;
}
__global__ void softmax(const float* in, float* out, int columns) {
    __shared__ State room[32];
    const float* row = in + blockIdx.x * columns;
    State mine{-1e30f, 0};
    for (int i = threadIdx.x; i < columns; i += blockDim.x) mine = merged(mine, State{row[i] * 1.44269504f, 1});
    for (int step = 16; step > 0; step /= 2) {
        State other{__shfl_xor_sync(0xffffffff, mine.most, step), __shfl_xor_sync(0xffffffff, mine.sum, step)};
        mine = merged(mine, other);
    }
    if (threadIdx.x % 32 == 0) room[threadIdx.x / 32] = mine;
    __syncthreads();
    mine = room[0];
    for (int w = 1; w < blockDim.x / 32; w++) mine = merged(mine, room[w]);
    for (int i = threadIdx.x; i < columns; i += blockDim.x) out[blockIdx.x * columns + i] = exp2f(row[i] * 1.44269504f - mine.most) / mine.sum;
}

int main() {
    const int rows = 24, columns = 333;
    std::vector<float> host(rows * columns), result(rows * columns);
    for (int i = 0; i < rows * columns; i++) host[i] = (i * 37 % 211) / 20.0f - 5;
    float *in, *out;
    cudaMalloc(&in, host.size() * sizeof(float));
    cudaMalloc(&out, host.size() * sizeof(float));
    cudaMemcpy(in, host.data(), host.size() * sizeof(float), cudaMemcpyHostToDevice);
    softmax<<<rows, 128>>>(in, out, columns);
    cudaMemcpy(result.data(), out, host.size() * sizeof(float), cudaMemcpyDeviceToHost);
    double sum = 0, checksum = 0;
    for (int i = 0; i < rows * columns; i++) { sum += result[i]; checksum += result[i] * (i % 13); }
    printf("softmax: rows sum to %.4f, one of them %.4g, checksum %.3f\n", sum, result[200], checksum);
    cudaFree(in);
    cudaFree(out);
    return 0;
}
