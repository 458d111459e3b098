// Lloyd's k-means in the plane: assignment with centres in constant memory, sums by atomics in shared memory. Points are of
// integers, so that sums are exact in any order.
#include <cstdio>
#include <cuda_runtime.h>
#include <vector>

constexpr int K = 5;
__constant__ float2 centres[K];

__global__ void assign(const int2* points, int* labels, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float best = 3.4e38f;
    int label = 0;
    for (int k = 0; k < K; k++) {
        float dx = points[i].x - centres[k].x, dy = points[i].y - centres[k].y, distance = dx * dx + dy * dy;
        if (distance < best) { best = distance; label = k; }
    }
    labels[i] = label;
}
__global__ void accumulate(const int2* points, const int* labels, int* sums, int n) {
    __shared__ int mine[3 * K];
    if (threadIdx.x < 3 * K) mine[threadIdx.x] = 0;
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        atomicAdd(&mine[3 * labels[i]], points[i].x);
        atomicAdd(&mine[3 * labels[i] + 1], points[i].y);
        atomicAdd(&mine[3 * labels[i] + 2], 1);
    }
    __syncthreads();
    if (threadIdx.x < 3 * K) atomicAdd(&sums[threadIdx.x], mine[threadIdx.x]);
}

int main() {
    const int n = 4000;
    std::vector<int2> points(n);
    unsigned state = 3;
    auto next = [&] { return static_cast<int>((state = state * 1664525 + 1013904223) >> 22); };
    for (int i = 0; i < n; i++) points[i] = make_int2(next() / 3 + i % K * 400, next() / 4 + i % 3 * 500);
    int2* d_points;
    int *labels, *sums;
    cudaMalloc(&d_points, n * sizeof(int2));
    cudaMalloc(&labels, n * sizeof(int));
    cudaMalloc(&sums, 3 * K * sizeof(int));
    cudaMemcpy(d_points, points.data(), n * sizeof(int2), cudaMemcpyHostToDevice);
    float2 now[K];
    for (int k = 0; k < K; k++) now[k] = make_float2(points[k].x, points[k].y);
    int host[3 * K];
    for (int round = 0; round < 12; round++) {
        cudaMemcpyToSymbol(centres, now, sizeof now);
        cudaMemset(sums, 0, sizeof host);
        assign<<<(n + 127) / 128, 128>>>(d_points, labels, n);
        accumulate<<<(n + 127) / 128, 128>>>(d_points, labels, sums, n);
        cudaMemcpy(host, sums, sizeof host, cudaMemcpyDeviceToHost);
        for (int k = 0; k < K; k++)
            if (host[3 * k + 2]) now[k] = make_float2(static_cast<float>(host[3 * k]) / host[3 * k + 2], static_cast<float>(host[3 * k + 1]) / host[3 * k + 2]);
    }
    double checksum = 0;
    for (int k = 0; k < K; k++) {
        printf("centre %d: (%.4f, %.4f) of %d points\n", k, now[k].x, now[k].y, host[3 * k + 2]);
        checksum += (k + 1) * (now[k].x + 2.0 * now[k].y);
    }
    printf("checksum %.6f\n", checksum);
    cudaFree(d_points);
    cudaFree(labels);
    cudaFree(sums);
    return 0;
}
