#include <cuda_runtime.h>
#include <cstdint>

// A vector stays as it is in memory: copy it. Everything else goes through a tile.
__global__ void tiles(const float* in, float* out, int64_t ny, int64_t nx)
{
    __shared__ float t[32][33];
    int64_t bx = blockIdx.x, by = blockIdx.y;
    int i = threadIdx.x, j = threadIdx.y;
    int64_t gx = bx * 32 + i, gy = by * 32 + j;
    if (gx < nx) {
        if (gy < ny)      t[j][i]      = in[gy * nx + gx];
        if (gy + 16 < ny) t[j + 16][i] = in[(gy + 16) * nx + gx];
    }
    __syncthreads();
    gx = by * 32 + i;
    gy = bx * 32 + j;
    if (gx < ny) {
        if (gy < nx)      out[gy * ny + gx]        = t[i][j];
        if (gy + 16 < nx) out[(gy + 16) * ny + gx] = t[i][j + 16];
    }
}

extern "C" void solve(const float* x, float* out, int64_t rows, int64_t cols)
{
    if (rows <= 1 || cols <= 1) {
        cudaMemcpyAsync(out, x, rows * cols * sizeof(float), cudaMemcpyDeviceToDevice, 0);
        return;
    }
    dim3 g((cols - 1) / 32 + 1, (rows - 1) / 32 + 1);
    dim3 b(32, 16);
    tiles<<<g, b>>>(x, out, rows, cols);
}
