// Product of matrices whose sides are no multiples of the tile, naive and by tiles in shared memory.
#include <cstdio>
#include <cuda_runtime.h>
#include <vector>

constexpr int TILE = 16;

__global__ void naive(const float* a, const float* b, float* c, int m, int n, int k) {
    int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= m || column >= n) return;
    float sum = 0;
    for (int i = 0; i < k; i++) sum += a[row * k + i] * b[i * n + column];
    c[row * n + column] = sum;
}

__global__ void tiled(const float* a, const float* b, float* c, int m, int n, int k) {
    __shared__ float as[TILE][TILE], bs[TILE][TILE];
    int row = blockIdx.y * TILE + threadIdx.y, column = blockIdx.x * TILE + threadIdx.x;
    float sum = 0;
    for (int start = 0; start < k; start += TILE) {
        as[threadIdx.y][threadIdx.x] = row < m && start + threadIdx.x < k ? a[row * k + start + threadIdx.x] : 0;
        bs[threadIdx.y][threadIdx.x] = start + threadIdx.y < k && column < n ? b[(start + threadIdx.y) * n + column] : 0;
        __syncthreads();
        for (int i = 0; i < TILE; i++) sum += as[threadIdx.y][i] * bs[i][threadIdx.x];
        __syncthreads();
    }
    if (row < m && column < n) c[row * n + column] = sum;
}

int main() {
    const int m = 70, n = 90, k = 110;
    std::vector<float> a(m * k), b(k * n), first(m * n), second(m * n);
    for (size_t i = 0; i < a.size(); i++) a[i] = static_cast<float>(i * 7 % 13) / 3 - 2;
    for (size_t i = 0; i < b.size(); i++) b[i] = static_cast<float>(i * 5 % 11) / 7 - 0.5f;
    float *d_a, *d_b, *d_c;
    cudaMalloc(&d_a, a.size() * 4);
    cudaMalloc(&d_b, b.size() * 4);
    cudaMalloc(&d_c, first.size() * 4);
    cudaMemcpy(d_a, a.data(), a.size() * 4, cudaMemcpyHostToDevice);
    cudaMemcpy(d_b, b.data(), b.size() * 4, cudaMemcpyHostToDevice);
    dim3 block(TILE, TILE), grid((n + TILE - 1) / TILE, (m + TILE - 1) / TILE);
    naive<<<grid, block>>>(d_a, d_b, d_c, m, n, k);
    cudaMemcpy(first.data(), d_c, first.size() * 4, cudaMemcpyDeviceToHost);
    tiled<<<grid, block>>>(d_a, d_b, d_c, m, n, k);
    cudaMemcpy(second.data(), d_c, second.size() * 4, cudaMemcpyDeviceToHost);
    double checksum = 0;
    int different = 0;
    for (int i = 0; i < m * n; i++) { checksum += second[i] * (i % 7 + 1); different += first[i] != second[i]; }
    printf("matmul: %dx%dx%d, c[0][0]=%.6f, %d differ, checksum %.6f, %s\n", m, n, k, second[0], different, checksum, cudaGetErrorString(cudaGetLastError()));
    cudaFree(d_a);
    cudaFree(d_b);
    cudaFree(d_c);
    return 0;
}
