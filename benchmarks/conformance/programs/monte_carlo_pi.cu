// Pi by Monte Carlo, with a xorshift generator a thread.
#include <cstdio>
#include <cuda_runtime.h>

struct Generator {
    unsigned state;
    __device__ explicit Generator(unsigned seed) : state(seed * 2654435761u + 1) { for (int i = 0; i < 8; i++) next(); }
    __device__ unsigned next() {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        return state;
    }
    __device__ float uniform() { return (next() >> 8) * 0x1p-24f; }
};
__global__ void throw_darts(unsigned long long* hits, int each) {
    Generator generator(blockIdx.x * blockDim.x + threadIdx.x + 1);
    unsigned mine = 0;
    for (int i = 0; i < each; i++) {
        float x = generator.uniform(), y = generator.uniform();
        mine += x * x + y * y < 1;
    }
    for (int step = 16; step > 0; step /= 2) mine += __shfl_down_sync(0xffffffff, mine, step);
    if (threadIdx.x % 32 == 0) atomicAdd(hits, mine);
}

int main() {
    const int blocks = 16, threads = 128, each = 100;
    unsigned long long *hits, count;
    cudaMalloc(&hits, sizeof count);
    cudaMemset(hits, 0, sizeof count);
    cudaEvent_t begun, ended;
    cudaEventCreate(&begun);
    cudaEventCreate(&ended);
    cudaEventRecord(begun);
    throw_darts<<<blocks, threads>>>(hits, each);
    cudaEventRecord(ended);
    cudaEventSynchronize(ended);
    float ms = -1;
    cudaEventElapsedTime(&ms, begun, ended);
    cudaMemcpy(&count, hits, sizeof count, cudaMemcpyDeviceToHost);
    printf("pi: %llu of %d hit, %.6f%s\n", count, blocks * threads * each, 4.0 * count / (blocks * threads * each), ms >= 0 ? "" : ", no time");
    cudaEventDestroy(begun);
    cudaEventDestroy(ended);
    cudaFree(hits);
    return 0;
}
