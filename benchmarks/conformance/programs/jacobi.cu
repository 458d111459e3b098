// Jacobi's iteration for Laplace's equation: two grids in turn, and the largest change by atomicMax on its bits.
#include <cstdio>
#include <cstring>
#include <cuda_runtime.h>
#include <utility>
#include <vector>

constexpr int N = 66;

__global__ void iterate(const float* from, float* to, unsigned* change) {
    int x = blockIdx.x * blockDim.x + threadIdx.x + 1, y = blockIdx.y * blockDim.y + threadIdx.y + 1;
    float difference = 0;
    if (x < N - 1 && y < N - 1) {
        float value = 0.25f * (from[y * N + x - 1] + from[y * N + x + 1] + from[(y - 1) * N + x] + from[(y + 1) * N + x]);
        to[y * N + x] = value;
        difference = fabsf(value - from[y * N + x]);
    }
    for (int step = 16; step > 0; step /= 2) difference = fmaxf(difference, __shfl_xor_sync(0xffffffff, difference, step));
    if ((threadIdx.y * blockDim.x + threadIdx.x) % 32 == 0) atomicMax(change, __float_as_uint(difference));
}

int main() {
    std::vector<float> host(N * N, 0.0f);
    for (int i = 0; i < N; i++) { host[i] = 100; host[i * N] = static_cast<float>(i); }
    float *from, *to;
    unsigned* change;
    cudaMalloc(&from, host.size() * sizeof(float));
    cudaMalloc(&to, host.size() * sizeof(float));
    cudaMalloc(&change, sizeof(unsigned));
    cudaMemcpy(from, host.data(), host.size() * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(to, host.data(), host.size() * sizeof(float), cudaMemcpyHostToDevice);
    int rounds = 0;
    float largest = 1;
    for (; rounds < 60 && largest > 0.05f; rounds++) {
        cudaMemset(change, 0, sizeof(unsigned));
        iterate<<<dim3(4, 8), dim3(16, 8)>>>(from, to, change);
        unsigned bits;
        cudaMemcpy(&bits, change, sizeof bits, cudaMemcpyDeviceToHost);
        memcpy(&largest, &bits, sizeof largest);
        std::swap(from, to);
    }
    cudaMemcpy(host.data(), from, host.size() * sizeof(float), cudaMemcpyDeviceToHost);
    double checksum = 0;
    for (int i = 0; i < N * N; i++) checksum += host[i] * (i % 7 + 1.0);
    printf("jacobi: %d rounds, change %.7f, centre %.7f, checksum %.9g\n", rounds, largest, host[N / 4 * N + N / 2], checksum);
    cudaFree(from);
    cudaFree(to);
    cudaFree(change);
    return 0;
}
