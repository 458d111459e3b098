// Bitonic sort: steps of large distance in global memory, the rest in shared memory.
#include <algorithm>
#include <cstdio>
#include <cuda_runtime.h>
#include <vector>

constexpr int HALF = 256;

__device__ void exchange(int& a, int& b, bool rising) {
    if ((a > b) == rising) { int keep = a; a = b; b = keep; }
}
__global__ void step(int* data, int k, int j) {
    int t = blockIdx.x * blockDim.x + threadIdx.x, i = 2 * t - (t & (j - 1));
    exchange(data[i], data[i + j], (i & k) == 0);
}
__global__ void steps_in_block(int* data, int first, int last) {
    __shared__ int room[2 * HALF];
    int start = blockIdx.x * 2 * HALF, t = threadIdx.x;
    room[t] = data[start + t];
    room[t + HALF] = data[start + t + HALF];
    for (int k = first; k <= last; k *= 2)
        for (int j = min(k / 2, HALF); j > 0; j /= 2) {
            __syncthreads();
            int i = 2 * t - (t & (j - 1));
            exchange(room[i], room[i + j], ((start + i) & k) == 0);
        }
    __syncthreads();
    data[start + t] = room[t];
    data[start + t + HALF] = room[t + HALF];
}

int main() {
    const int n = 4096;
    std::vector<int> host(n), sorted(n);
    unsigned state = 17;
    for (int& it : host) it = static_cast<int>((state = state * 22695477 + 1) >> 12) - 500000;
    int* data;
    cudaMalloc(&data, n * sizeof(int));
    cudaMemcpy(data, host.data(), n * sizeof(int), cudaMemcpyHostToDevice);
    steps_in_block<<<n / (2 * HALF), HALF>>>(data, 2, 2 * HALF);
    for (int k = 4 * HALF; k <= n; k *= 2) {
        for (int j = k / 2; j > HALF; j /= 2) step<<<n / (2 * HALF), HALF>>>(data, k, j);
        steps_in_block<<<n / (2 * HALF), HALF>>>(data, k, k);
    }
    cudaMemcpy(sorted.data(), data, n * sizeof(int), cudaMemcpyDeviceToHost);
    std::sort(host.begin(), host.end());
    unsigned checksum = 0;
    for (int it : sorted) checksum = checksum * 31 + static_cast<unsigned>(it);
    printf("bitonic sort: %d .. %d, checksum %u, %s\n", sorted[0], sorted[n - 1], checksum, sorted == host ? "sorted" : "not sorted");
    cudaFree(data);
    return sorted != host;
}
