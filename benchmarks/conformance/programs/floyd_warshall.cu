// Shortest paths between all pairs after Floyd and Warshall, by blocks: the pivot, its row and column, the rest.
#include <cstdio>
#include <cuda_runtime.h>
#include <vector>

constexpr int N = 96, B = 16;

__device__ void relax(int (*c)[B], const int (*a)[B], const int (*b)[B]) {
    for (int k = 0; k < B; k++) {
        int through = a[threadIdx.y][k] + b[k][threadIdx.x];
        __syncthreads();
        if (through < c[threadIdx.y][threadIdx.x]) c[threadIdx.y][threadIdx.x] = through;
        __syncthreads();
    }
}
__global__ void pivot(int* d, int k) {
    __shared__ int c[B][B];
    int at = (k * B + threadIdx.y) * N + k * B + threadIdx.x;
    c[threadIdx.y][threadIdx.x] = d[at];
    __syncthreads();
    relax(c, c, c);
    d[at] = c[threadIdx.y][threadIdx.x];
}
__global__ void cross(int* d, int k) {
    __shared__ int c[B][B], p[B][B];
    int other = blockIdx.x < k ? blockIdx.x : blockIdx.x + 1;
    int row = blockIdx.y == 0 ? k : other, column = blockIdx.y == 0 ? other : k;
    int at = (row * B + threadIdx.y) * N + column * B + threadIdx.x;
    c[threadIdx.y][threadIdx.x] = d[at];
    p[threadIdx.y][threadIdx.x] = d[(k * B + threadIdx.y) * N + k * B + threadIdx.x];
    __syncthreads();
    if (blockIdx.y == 0) relax(c, p, c);
    else relax(c, c, p);
    d[at] = c[threadIdx.y][threadIdx.x];
}
__global__ void rest(int* d, int k) {
    __shared__ int a[B][B], b[B][B];
    int row = blockIdx.y < k ? blockIdx.y : blockIdx.y + 1, column = blockIdx.x < k ? blockIdx.x : blockIdx.x + 1;
    int at = (row * B + threadIdx.y) * N + column * B + threadIdx.x, best = d[at];
    a[threadIdx.y][threadIdx.x] = d[(row * B + threadIdx.y) * N + k * B + threadIdx.x];
    b[threadIdx.y][threadIdx.x] = d[(k * B + threadIdx.y) * N + column * B + threadIdx.x];
    __syncthreads();
    for (int i = 0; i < B; i++) best = min(best, a[threadIdx.y][i] + b[i][threadIdx.x]);
    d[at] = best;
}

int main() {
    std::vector<int> host(N * N, 1 << 20), result(N * N);
    for (int i = 0; i < N; i++) {
        host[i * N + i] = 0;
        host[i * N + (i + 1) % N] = i % 7 + 1;
        host[i * N + (i * 5 + 3) % N] = i % 11 + 2;
    }
    for (int i = 0; i < N; i++) host[i * N + i] = 0;
    int* d;
    cudaMalloc(&d, N * N * sizeof(int));
    cudaMemcpy(d, host.data(), N * N * sizeof(int), cudaMemcpyHostToDevice);
    for (int k = 0; k < N / B; k++) {
        pivot<<<1, dim3(B, B)>>>(d, k);
        cross<<<dim3(N / B - 1, 2), dim3(B, B)>>>(d, k);
        rest<<<dim3(N / B - 1, N / B - 1), dim3(B, B)>>>(d, k);
    }
    cudaMemcpy(result.data(), d, N * N * sizeof(int), cudaMemcpyDeviceToHost);
    for (int k = 0; k < N; k++)
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++)
                if (host[i * N + k] + host[k * N + j] < host[i * N + j]) host[i * N + j] = host[i * N + k] + host[k * N + j];
    unsigned checksum = 0;
    for (int it : result) checksum = checksum * 31 + it;
    printf("shortest paths: 0 to 50 takes %d, checksum %u, %s\n", result[50], checksum, result == host ? "right" : "wrong");
    cudaFree(d);
    return result != host;
}
