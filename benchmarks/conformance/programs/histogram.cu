// Histogram of a text: atomics in global memory, then a private histogram for each block.
#include <cstdio>
#include <cuda_runtime.h>
#include <string>

__global__ void direct(const unsigned char* text, unsigned* bins, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        if (text[i] >= 'a' && text[i] <= 'z') atomicAdd(&bins[text[i] - 'a'], 1);
}
__global__ void privatised(const unsigned char* text, unsigned* bins, int n) {
    __shared__ unsigned mine[26];
    if (threadIdx.x < 26) mine[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        if (text[i] >= 'a' && text[i] <= 'z') atomicAdd(&mine[text[i] - 'a'], 1);
    __syncthreads();
    if (threadIdx.x < 26 && mine[threadIdx.x]) atomicAdd(&bins[threadIdx.x], mine[threadIdx.x]);
}

int main() {
    std::string text;
    unsigned state = 12345;
    while (text.size() < 40000) {
        state = state * 1664525 + 1013904223;
        text += static_cast<char>(' ' + (state >> 20) % 95);
    }
    unsigned char* device;
    unsigned *bins, first[26], second[26];
    cudaMalloc(&device, text.size());
    cudaMalloc(&bins, sizeof first);
    cudaMemcpy(device, text.data(), text.size(), cudaMemcpyHostToDevice);
    cudaMemset(bins, 0, sizeof first);
    direct<<<8, 128>>>(device, bins, static_cast<int>(text.size()));
    cudaMemcpy(first, bins, sizeof first, cudaMemcpyDeviceToHost);
    cudaMemset(bins, 0, sizeof first);
    privatised<<<8, 128>>>(device, bins, static_cast<int>(text.size()));
    cudaMemcpy(second, bins, sizeof second, cudaMemcpyDeviceToHost);
    unsigned checksum = 0, different = 0;
    for (int i = 0; i < 26; i++) {
        printf("%c %u\n", 'a' + i, second[i]);
        checksum = checksum * 31 + second[i];
        different += first[i] != second[i];
    }
    printf("checksum %u, %u differ\n", checksum, different);
    cudaFree(device);
    cudaFree(bins);
    return different != 0;
}
