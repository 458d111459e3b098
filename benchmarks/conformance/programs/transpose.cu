// Transposition: naive, through shared memory with bank conflicts, and with a padded tile.
#include <cstdio>
#include <cuda_runtime.h>
#include <vector>

constexpr int TILE = 32, ROWS = 8;

__global__ void naive(const int* in, int* out, int width, int height) {
    int x = blockIdx.x * TILE + threadIdx.x;
    for (int j = 0; j < TILE; j += ROWS) {
        int y = blockIdx.y * TILE + threadIdx.y + j;
        if (x < width && y < height) out[x * height + y] = in[y * width + x];
    }
}
template <int PADDING>
__global__ void tiled(const int* in, int* out, int width, int height) {
    __shared__ int tile[TILE][TILE + PADDING];
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += ROWS)
        if (x < width && y + j < height) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * width + x];
    __syncthreads();
    x = blockIdx.y * TILE + threadIdx.x;
    y = blockIdx.x * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += ROWS)
        if (x < height && y + j < width) out[(y + j) * height + x] = tile[threadIdx.x][threadIdx.y + j];
}

int main() {
    const int width = 150, height = 100;
    std::vector<int> host(width * height), result(width * height);
    for (int i = 0; i < width * height; i++) host[i] = i;
    int *in, *out;
    cudaMalloc(&in, host.size() * sizeof(int));
    cudaMalloc(&out, host.size() * sizeof(int));
    cudaMemcpy(in, host.data(), host.size() * sizeof(int), cudaMemcpyHostToDevice);
    dim3 grid((width + TILE - 1) / TILE, (height + TILE - 1) / TILE), block(TILE, ROWS);
    int wrong = 0;
    for (int which = 0; which < 3; which++) {
        cudaMemset(out, 0, host.size() * sizeof(int));
        if (which == 0) naive<<<grid, block>>>(in, out, width, height);
        if (which == 1) tiled<0><<<grid, block>>>(in, out, width, height);
        if (which == 2) tiled<1><<<grid, block>>>(in, out, width, height);
        cudaMemcpy(result.data(), out, host.size() * sizeof(int), cudaMemcpyDeviceToHost);
        unsigned checksum = 0;
        for (int i = 0; i < width * height; i++) {
            wrong += result[i] != i % height * width + i / height;
            checksum = checksum * 31 + result[i];
        }
        printf("transpose %d: checksum %u\n", which, checksum);
    }
    printf("%d wrong\n", wrong);
    cudaFree(in);
    cudaFree(out);
    return wrong != 0;
}
