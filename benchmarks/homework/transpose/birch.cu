#include <cuda_runtime.h>
#include <cstdint>

#define TILE_DIM 32
#define BLOCK_ROWS 8

__global__ void transposeCoalesced(const float *idata, float *odata, int64_t height, int64_t width)
{
    __shared__ float tile[TILE_DIM][TILE_DIM + 1];   // the extra column avoids bank conflicts

    int64_t xIndex = (int64_t)blockIdx.x * TILE_DIM + threadIdx.x;
    int64_t yIndex = (int64_t)blockIdx.y * TILE_DIM + threadIdx.y;
    for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
        if (xIndex < width && yIndex + j < height)
            tile[threadIdx.y + j][threadIdx.x] = idata[(yIndex + j) * width + xIndex];

    __syncthreads();

    xIndex = (int64_t)blockIdx.y * TILE_DIM + threadIdx.x;
    yIndex = (int64_t)blockIdx.x * TILE_DIM + threadIdx.y;
    for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
        if (xIndex < height && yIndex + j < width)
            odata[(yIndex + j) * height + xIndex] = tile[threadIdx.x][threadIdx.y + j];
}

extern "C" void solve(const float *x, float *out, int64_t rows, int64_t cols)
{
    if (rows == 0 || cols == 0) return;
    dim3 grid((cols + TILE_DIM - 1) / TILE_DIM, (rows + TILE_DIM - 1) / TILE_DIM);
    transposeCoalesced<<<grid, dim3(TILE_DIM, BLOCK_ROWS)>>>(x, out, rows, cols);
}
