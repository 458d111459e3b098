// Merge sort: each thread finds its part of a merge by a search along its diagonal (merge path).
#include <algorithm>
#include <cstdio>
#include <cuda_runtime.h>
#include <utility>
#include <vector>

constexpr int PART = 8;

// How many of the first k outputs come from a.
__device__ int co_rank(int k, const int* a, int m, const int* b, int n) {
    int low = max(0, k - n), high = min(k, m);
    while (low < high) {
        int middle = (low + high) / 2;
        if (a[middle] <= b[k - middle - 1]) low = middle + 1;
        else high = middle;
    }
    return low;
}
__global__ void merge_runs(const int* in, int* out, int n, int run) {
    int start_of_part = (blockIdx.x * blockDim.x + threadIdx.x) * PART;
    if (start_of_part >= n) return;
    int pair = start_of_part / (2 * run) * 2 * run;
    int middle = min(pair + run, n), end = min(pair + 2 * run, n);
    const int *a = in + pair, *b = in + middle;
    int m = middle - pair, count = end - middle, k = start_of_part - pair, last = min(k + PART, m + count);
    int i = co_rank(k, a, m, b, count), j = k - i;
    for (; k < last; k++) out[pair + k] = j >= count || (i < m && a[i] <= b[j]) ? a[i++] : b[j++];
}
__global__ void sort_small(int* data, int n) {
    int start = (blockIdx.x * blockDim.x + threadIdx.x) * PART, end = min(start + PART, n);
    for (int i = start + 1; i < end; i++) {
        int value = data[i], k = i;
        for (; k > start && data[k - 1] > value; k--) data[k] = data[k - 1];
        data[k] = value;
    }
}

int main() {
    const int n = 6007;
    std::vector<int> host(n), sorted(n);
    unsigned state = 7;
    for (int& it : host) it = static_cast<int>((state = state * 1103515245 + 12345) >> 8) % 10000 - 5000;
    int *from, *to;
    cudaMalloc(&from, n * sizeof(int));
    cudaMalloc(&to, n * sizeof(int));
    cudaMemcpy(from, host.data(), n * sizeof(int), cudaMemcpyHostToDevice);
    int blocks = (n + 128 * PART - 1) / (128 * PART);
    sort_small<<<blocks, 128>>>(from, n);
    for (int run = PART; run < n; run *= 2) {
        merge_runs<<<blocks, 128>>>(from, to, n, run);
        std::swap(from, to);
    }
    cudaMemcpy(sorted.data(), from, n * sizeof(int), cudaMemcpyDeviceToHost);
    std::sort(host.begin(), host.end());
    unsigned checksum = 0;
    for (int it : sorted) checksum = checksum * 31 + static_cast<unsigned>(it);
    printf("merge sort: %d .. %d, checksum %u, %s\n", sorted[0], sorted[n - 1], checksum, sorted == host ? "sorted" : "not sorted");
    cudaFree(from);
    cudaFree(to);
    return sorted != host;
}
