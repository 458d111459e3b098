// Breadth-first search over a graph in CSR: a vertex a thread with levels, and with frontiers in queues.
#include <cstdio>
#include <cuda_runtime.h>
#include <utility>
#include <vector>

__global__ void by_level(const int* starts, const int* edges, int* level, int* changed, int now, int n) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= n || static_cast<volatile int*>(level)[v] != now) return;  // others may set it now
    for (int e = starts[v]; e < starts[v + 1]; e++)
        if (atomicCAS(&level[edges[e]], -1, now + 1) == -1) atomicExch(changed, 1);
}
__global__ void by_frontier(const int* starts, const int* edges, int* level, const int* frontier, int size, int* next, int* next_size, int now) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= size) return;
    int v = frontier[i];
    for (int e = starts[v]; e < starts[v + 1]; e++)
        if (atomicCAS(&level[edges[e]], -1, now + 1) == -1) next[atomicAdd(next_size, 1)] = edges[e];
}

int main() {
    const int n = 3000;
    std::vector<int> starts(n + 1), edges;
    for (int v = 0; v < n; v++) {
        starts[v] = static_cast<int>(edges.size());
        edges.push_back((v + 1) % n);
        if (v % 3 == 0) edges.push_back((v * 7 + 13) % n);
        if (v % 50 == 0) edges.push_back((v * 31 + 5) % n);
    }
    starts[n] = static_cast<int>(edges.size());
    int *d_starts, *d_edges, *d_level, *changed, *queues[2], *size;
    cudaMalloc(&d_starts, (n + 1) * 4);
    cudaMalloc(&d_edges, edges.size() * 4);
    cudaMalloc(&d_level, n * 4);
    cudaMalloc(&changed, 4);
    cudaMalloc(&size, 4);
    for (int*& it : queues) cudaMalloc(&it, n * 4);
    cudaMemcpy(d_starts, starts.data(), (n + 1) * 4, cudaMemcpyHostToDevice);
    cudaMemcpy(d_edges, edges.data(), edges.size() * 4, cudaMemcpyHostToDevice);
    std::vector<int> first(n), second(n);
    const int zero = 0;
    cudaMemset(d_level, 0xff, n * 4);
    cudaMemcpy(d_level, &zero, 4, cudaMemcpyHostToDevice);
    int rounds = 0;
    for (int again = 1; again; rounds++) {
        cudaMemset(changed, 0, 4);
        by_level<<<(n + 127) / 128, 128>>>(d_starts, d_edges, d_level, changed, rounds, n);
        cudaMemcpy(&again, changed, 4, cudaMemcpyDeviceToHost);
    }
    cudaMemcpy(first.data(), d_level, n * 4, cudaMemcpyDeviceToHost);
    cudaMemset(d_level, 0xff, n * 4);
    cudaMemcpy(d_level, &zero, 4, cudaMemcpyHostToDevice);
    cudaMemcpy(queues[0], &zero, 4, cudaMemcpyHostToDevice);
    int now = 0, most = 1;
    for (int count = 1; count; now++) {
        cudaMemset(size, 0, 4);
        by_frontier<<<(count + 127) / 128, 128>>>(d_starts, d_edges, d_level, queues[now % 2], count, queues[1 - now % 2], size, now);
        cudaMemcpy(&count, size, 4, cudaMemcpyDeviceToHost);
        if (count > most) most = count;
    }
    cudaMemcpy(second.data(), d_level, n * 4, cudaMemcpyDeviceToHost);
    unsigned checksum = 0;
    for (int it : second) checksum = checksum * 31 + static_cast<unsigned>(it);
    printf("breadth-first search: %d rounds, widest frontier %d, checksum %u, %s\n", rounds, most, checksum, first == second ? "equal" : "different");
    for (int* it : {d_starts, d_edges, d_level, changed, queues[0], queues[1], size}) cudaFree(it);
    return first != second;
}
