// Stream compaction that keeps the order: flags, a scan of each block by warps, offsets of blocks, scatter.
#include <cstdio>
#include <cuda_runtime.h>
#include <vector>

constexpr int THREADS = 128;
__device__ bool wanted(int value) { return value % 3 == 0 && value > 100; }

__device__ int rank_in_block(bool flag, int* total) {
    __shared__ int warps[THREADS / 32];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    unsigned ballot = __ballot_sync(0xffffffff, flag);
    if (lane == 0) warps[warp] = __popc(ballot);
    __syncthreads();
    int before = 0;
    *total = 0;
    for (int w = 0; w < THREADS / 32; w++) {
        if (w < warp) before += warps[w];
        *total += warps[w];
    }
    return before + __popc(ballot & ((1u << lane) - 1));
}
__global__ void count(const int* in, int* counts, int n) {
    int i = blockIdx.x * THREADS + threadIdx.x, total;
    rank_in_block(i < n && wanted(in[i]), &total);
    if (threadIdx.x == 0) counts[blockIdx.x] = total;
}
__global__ void offsets(int* counts, int blocks) {
    __shared__ int room[256];
    int t = threadIdx.x, mine = t < blocks ? counts[t] : 0;
    room[t] = mine;
    __syncthreads();
    for (int step = 1; step < 256; step *= 2) {
        int other = t >= step ? room[t - step] : 0;
        __syncthreads();
        room[t] += other;
        __syncthreads();
    }
    if (t < blocks) counts[t] = room[t] - mine;
    if (t == 255) counts[blocks] = room[t];
}
__global__ void scatter(const int* in, int* out, const int* counts, int n) {
    int i = blockIdx.x * THREADS + threadIdx.x, total;
    bool flag = i < n && wanted(in[i]);
    int rank = rank_in_block(flag, &total);
    if (flag) out[counts[blockIdx.x] + rank] = in[i];
}

int main() {
    const int n = 20000, blocks = (n + THREADS - 1) / THREADS;
    std::vector<int> host(n), expected;
    for (int i = 0; i < n; i++) {
        host[i] = i * 7919 % 1000;
        if (host[i] % 3 == 0 && host[i] > 100) expected.push_back(host[i]);
    }
    int *in, *out, *counts, kept;
    cudaMalloc(&in, n * 4);
    cudaMalloc(&out, n * 4);
    cudaMalloc(&counts, (blocks + 1) * 4);
    cudaMemcpy(in, host.data(), n * 4, cudaMemcpyHostToDevice);
    count<<<blocks, THREADS>>>(in, counts, n);
    offsets<<<1, 256>>>(counts, blocks);
    scatter<<<blocks, THREADS>>>(in, out, counts, n);
    cudaMemcpy(&kept, counts + blocks, 4, cudaMemcpyDeviceToHost);
    std::vector<int> result(kept);
    cudaMemcpy(result.data(), out, kept * 4, cudaMemcpyDeviceToHost);
    unsigned checksum = 0;
    for (int it : result) checksum = checksum * 31 + it;
    printf("compaction: %d of %d kept, checksum %u, %s\n", kept, n, checksum, result == expected ? "right" : "wrong");
    cudaFree(in);
    cudaFree(out);
    cudaFree(counts);
    return result != expected;
}
