// Sum of an array in six ways, from interleaved addressing to warp shuffles.
#include <cstdio>
#include <cuda_runtime.h>
#include <vector>

constexpr int THREADS = 256;

__global__ void interleaved(const int* in, int* out, int n) {
    __shared__ int room[THREADS];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    room[t] = i < n ? in[i] : 0;
    __syncthreads();
    for (int s = 1; s < blockDim.x; s *= 2) {
        if (t % (2 * s) == 0) room[t] += room[t + s];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = room[0];
}
__global__ void strided(const int* in, int* out, int n) {
    __shared__ int room[THREADS];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    room[t] = i < n ? in[i] : 0;
    __syncthreads();
    for (int s = 1; s < blockDim.x; s *= 2) {
        int at = 2 * s * t;
        if (at < blockDim.x) room[at] += room[at + s];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = room[0];
}
__global__ void sequential(const int* in, int* out, int n) {
    extern __shared__ int room[];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x * 2 + t;
    room[t] = (i < n ? in[i] : 0) + (i + blockDim.x < n ? in[i + blockDim.x] : 0);
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s /= 2) {
        if (t < s) room[t] += room[t + s];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = room[0];
}
template <int SIZE>
__global__ void unrolled(const int* in, int* out, int n) {
    __shared__ int room[SIZE];
    int t = threadIdx.x, sum = 0;
    for (int i = blockIdx.x * SIZE + t; i < n; i += SIZE * gridDim.x) sum += in[i];
    room[t] = sum;
    __syncthreads();
    if (SIZE >= 512) { if (t < 256) room[t] += room[t + 256]; __syncthreads(); }
    if (SIZE >= 256) { if (t < 128) room[t] += room[t + 128]; __syncthreads(); }
    if (SIZE >= 128) { if (t < 64) room[t] += room[t + 64]; __syncthreads(); }
    if (t < 32) {
        int value = room[t] + room[t + 32];
        for (int step = 16; step > 0; step /= 2) value += __shfl_down_sync(0xffffffff, value, step);
        if (t == 0) out[blockIdx.x] = value;
    }
}
__global__ void shuffled(const int* in, int* out, int n) {
    __shared__ int sums[32];
    int sum = 0, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) sum += in[i];
    for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(0xffffffff, sum, step);
    if (lane == 0) sums[warp] = sum;
    __syncthreads();
    if (warp == 0) {
        sum = lane < blockDim.x / 32 ? sums[lane] : 0;
        for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(0xffffffff, sum, step);
        if (lane == 0) out[blockIdx.x] = sum;
    }
}
__global__ void atomic(const int* in, int* out, int n) {
    int sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) sum += in[i];
    atomicAdd(out, sum);
}

int main() {
    const int n = 30011;
    std::vector<int> host(n);
    long long expected = 0;
    for (int i = 0; i < n; i++) expected += host[i] = i * 37 % 1001 - 400;
    int *in, *out;
    cudaMalloc(&in, n * sizeof(int));
    cudaMalloc(&out, 1024 * sizeof(int));
    cudaMemcpy(in, host.data(), n * sizeof(int), cudaMemcpyHostToDevice);
    const char* names[] = {"interleaved", "strided", "sequential", "unrolled", "shuffled", "atomic"};
    bool right = true;
    for (int which = 0; which < 6; which++) {
        int blocks = (n + THREADS - 1) / THREADS;
        cudaMemset(out, 0, 1024 * sizeof(int));
        if (which == 0) interleaved<<<blocks, THREADS>>>(in, out, n);
        if (which == 1) strided<<<blocks, THREADS>>>(in, out, n);
        if (which == 2) sequential<<<blocks = (blocks + 1) / 2, THREADS, THREADS * sizeof(int)>>>(in, out, n);
        if (which == 3) unrolled<THREADS><<<blocks = 20, THREADS>>>(in, out, n);
        if (which == 4) shuffled<<<blocks = 20, THREADS>>>(in, out, n);
        if (which == 5) { atomic<<<20, THREADS>>>(in, out, n); blocks = 1; }
        std::vector<int> sums(blocks);
        cudaMemcpy(sums.data(), out, blocks * sizeof(int), cudaMemcpyDeviceToHost);
        long long sum = 0;
        for (int it : sums) sum += it;
        printf("%-12s %lld\n", names[which], sum);
        right = right && sum == expected;
    }
    printf("checksum %lld %s\n", expected, right ? "right" : "wrong");
    cudaFree(in);
    cudaFree(out);
    return !right;
}
