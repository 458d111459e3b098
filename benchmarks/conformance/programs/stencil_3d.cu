// Seven-point stencil in three dimensions: plain, and with a plane in shared memory and the column in registers.
#include <cstdio>
#include <cuda_runtime.h>
#include <utility>
#include <vector>

constexpr int N = 34, TILE = 8;

__device__ int at(int x, int y, int z) { return (z * N + y) * N + x; }
__global__ void plain(const float* in, float* out) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, z = blockIdx.z * blockDim.z + threadIdx.z;
    if (x < 1 || y < 1 || z < 1 || x >= N - 1 || y >= N - 1 || z >= N - 1) return;
    out[at(x, y, z)] = 0.4f * in[at(x, y, z)] + 0.1f * (in[at(x - 1, y, z)] + in[at(x + 1, y, z)] + in[at(x, y - 1, z)] + in[at(x, y + 1, z)] + in[at(x, y, z - 1)] + in[at(x, y, z + 1)]);
}
__global__ void coarsened(const float* in, float* out) {
    __shared__ float plane[TILE + 2][TILE + 2];
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    bool there = x < N && y < N, inner = threadIdx.x >= 1 && threadIdx.x <= TILE && threadIdx.y >= 1 && threadIdx.y <= TILE && x < N - 1 && y < N - 1;
    float below = there ? in[at(x, y, 0)] : 0, here = there ? in[at(x, y, 1)] : 0;
    for (int z = 1; z < N - 1; z++) {
        float above = there ? in[at(x, y, z + 1)] : 0;
        plane[threadIdx.y][threadIdx.x] = here;
        __syncthreads();
        if (inner) out[at(x, y, z)] = 0.4f * here + 0.1f * (plane[threadIdx.y][threadIdx.x - 1] + plane[threadIdx.y][threadIdx.x + 1] + plane[threadIdx.y - 1][threadIdx.x] + plane[threadIdx.y + 1][threadIdx.x] + below + above);
        __syncthreads();
        below = here;
        here = above;
    }
}

int main() {
    std::vector<float> host(N * N * N), first(host.size()), second(host.size());
    for (size_t i = 0; i < host.size(); i++) host[i] = static_cast<float>(i * 7919 % 1000) / 10;
    float* room[2];
    for (float*& it : room) cudaMalloc(&it, host.size() * sizeof(float));
    for (int which = 0; which < 2; which++) {
        for (float* it : room) cudaMemcpy(it, host.data(), host.size() * sizeof(float), cudaMemcpyHostToDevice);
        float *from = room[0], *to = room[1];
        for (int step = 0; step < 3; step++) {
            if (which == 0) plain<<<dim3(5, 9, 9), dim3(8, 4, 4)>>>(from, to);
            else coarsened<<<dim3(4, 4), dim3(TILE + 2, TILE + 2)>>>(from, to);
            std::swap(from, to);
        }
        cudaMemcpy((which ? second : first).data(), from, host.size() * sizeof(float), cudaMemcpyDeviceToHost);
    }
    double checksum = 0;
    int different = 0;
    for (size_t i = 0; i < host.size(); i++) { checksum += second[i] * (i % 11); different += first[i] != second[i]; }
    printf("stencil: centre %.6f, %d differ, checksum %.4f\n", second[(17 * N + 17) * N + 17], different, checksum);
    for (float* it : room) cudaFree(it);
    return different != 0;
}
