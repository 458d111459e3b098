// Radix sort, a bit a pass: flags, their scan by warps, and a stable scatter.
#include <algorithm>
#include <cstdio>
#include <cuda_runtime.h>
#include <utility>
#include <vector>

constexpr int THREADS = 256;

// Zeros of each block, and how many come before each element within its block.
__global__ void count_zeros(const unsigned* keys, unsigned* before, unsigned* zeros, int n, int bit) {
    __shared__ unsigned warps[THREADS / 32];
    int i = blockIdx.x * THREADS + threadIdx.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    bool zero = i < n && !(keys[i] >> bit & 1);
    unsigned ballot = __ballot_sync(0xffffffff, zero);
    if (lane == 0) warps[warp] = __popc(ballot);
    __syncthreads();
    unsigned sum = 0;
    for (int w = 0; w < warp; w++) sum += warps[w];
    if (i < n) before[i] = sum + __popc(ballot & ((1u << lane) - 1));
    if (threadIdx.x == THREADS - 1) zeros[blockIdx.x] = sum + __popc(ballot);
}
__global__ void scan_blocks(unsigned* zeros, int blocks) {
    unsigned sum = 0;
    for (int i = 0; i < blocks; i++) { unsigned count = zeros[i]; zeros[i] = sum; sum += count; }
    zeros[blocks] = sum;
}
__global__ void scatter(const unsigned* keys, unsigned* out, const unsigned* before, const unsigned* zeros, int n, int bit, int blocks) {
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= n) return;
    unsigned rank = zeros[blockIdx.x] + before[i];
    out[keys[i] >> bit & 1 ? zeros[blocks] + i - rank : rank] = keys[i];
}

int main() {
    const int n = 5000, blocks = (n + THREADS - 1) / THREADS;
    std::vector<unsigned> host(n), sorted(n);
    unsigned state = 99;
    for (unsigned& it : host) it = (state = state * 1664525 + 1013904223) >> 16;
    unsigned *from, *to, *before, *zeros;
    cudaMalloc(&from, n * 4);
    cudaMalloc(&to, n * 4);
    cudaMalloc(&before, n * 4);
    cudaMalloc(&zeros, (blocks + 1) * 4);
    cudaMemcpy(from, host.data(), n * 4, cudaMemcpyHostToDevice);
    for (int bit = 0; bit < 16; bit++) {
        count_zeros<<<blocks, THREADS>>>(from, before, zeros, n, bit);
        scan_blocks<<<1, 1>>>(zeros, blocks);
        scatter<<<blocks, THREADS>>>(from, to, before, zeros, n, bit, blocks);
        std::swap(from, to);
    }
    cudaMemcpy(sorted.data(), from, n * 4, cudaMemcpyDeviceToHost);
    std::sort(host.begin(), host.end());
    unsigned checksum = 0;
    for (unsigned it : sorted) checksum = checksum * 31 + it;
    printf("radix sort: %u .. %u, checksum %u, %s\n", sorted[0], sorted[n - 1], checksum, sorted == host ? "sorted" : "not sorted");
    cudaFree(from);
    cudaFree(to);
    cudaFree(before);
    cudaFree(zeros);
    return sorted != host;
}
