// Inclusive scan after Hillis and Steele, exclusive scan after Blelloch, and a scan of many blocks in three launches.
#include <cstdio>
#include <cuda_runtime.h>
#include <vector>

__global__ void hillis_steele(const int* in, int* out, int n) {
    extern __shared__ int room[];
    int t = threadIdx.x, from = 0, to = 1;
    room[t] = in[t];
    __syncthreads();
    for (int offset = 1; offset < n; offset *= 2) {
        room[to * n + t] = t >= offset ? room[from * n + t] + room[from * n + t - offset] : room[from * n + t];
        __syncthreads();
        from = 1 - from;
        to = 1 - to;
    }
    out[t] = room[from * n + t];
}

// Each block scans two elements a thread; its total goes to sums.
__global__ void blelloch(const int* in, int* out, int* sums, int n) {
    extern __shared__ int room[];
    int t = threadIdx.x, size = 2 * blockDim.x, start = blockIdx.x * size, offset = 1;
    room[2 * t] = start + 2 * t < n ? in[start + 2 * t] : 0;
    room[2 * t + 1] = start + 2 * t + 1 < n ? in[start + 2 * t + 1] : 0;
    for (int d = size / 2; d > 0; d /= 2, offset *= 2) {
        __syncthreads();
        if (t < d) room[offset * (2 * t + 2) - 1] += room[offset * (2 * t + 1) - 1];
    }
    __syncthreads();
    if (t == 0) {
        if (sums) sums[blockIdx.x] = room[size - 1];
        room[size - 1] = 0;
    }
    for (int d = 1; d < size; d *= 2) {
        offset /= 2;
        __syncthreads();
        if (t < d) {
            int left = offset * (2 * t + 1) - 1, right = offset * (2 * t + 2) - 1, keep = room[left];
            room[left] = room[right];
            room[right] += keep;
        }
    }
    __syncthreads();
    if (start + 2 * t < n) out[start + 2 * t] = room[2 * t];
    if (start + 2 * t + 1 < n) out[start + 2 * t + 1] = room[2 * t + 1];
}
__global__ void add_offsets(int* out, const int* offsets, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] += offsets[i / 512];
}

int main() {
    const int n = 20000, blocks = (n + 511) / 512;
    std::vector<int> host(n), small(512), large(n);
    for (int i = 0; i < n; i++) host[i] = i * 31 % 17 - 5;
    int *in, *out, *sums, *offsets;
    cudaMalloc(&in, n * 4);
    cudaMalloc(&out, n * 4);
    cudaMalloc(&sums, 64 * 4);
    cudaMalloc(&offsets, 64 * 4);
    cudaMemcpy(in, host.data(), n * 4, cudaMemcpyHostToDevice);
    hillis_steele<<<1, 512, 2 * 512 * sizeof(int)>>>(in, out, 512);
    cudaMemcpy(small.data(), out, 512 * 4, cudaMemcpyDeviceToHost);
    cudaMemset(sums, 0, 64 * 4);
    blelloch<<<blocks, 256, 512 * sizeof(int)>>>(in, out, sums, n);
    blelloch<<<1, 32, 64 * sizeof(int)>>>(sums, offsets, nullptr, 64);
    add_offsets<<<(n + 255) / 256, 256>>>(out, offsets, n);
    cudaMemcpy(large.data(), out, n * 4, cudaMemcpyDeviceToHost);
    int sum = 0, wrong = 0;
    long long checksum = 0;
    for (int i = 0; i < n; i++) {
        wrong += large[i] != sum;
        sum += host[i];
        if (i < 512) wrong += small[i] != sum;
        checksum = checksum * 31 % 1000000007 + large[i];
    }
    printf("scans: last %d, %d wrong, checksum %lld\n", large[n - 1], wrong, checksum);
    cudaFree(in);
    cudaFree(out);
    cudaFree(sums);
    cudaFree(offsets);
    return wrong != 0;
}
