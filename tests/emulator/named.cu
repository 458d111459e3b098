// Kernels whose variables tests/emulator/test_named.py looks at, by line.
#include <cstdio>
#include <cuda_fp16.h>

extern "C" __global__ void turn(const float* in, float* out, int rows, int cols) {
    __shared__ float tile[16][17];
    int column = blockIdx.x * 16 + threadIdx.x;
    int row = blockIdx.y * 16 + threadIdx.y;
    const float* from = in + row * cols + column;
    if (row < rows && column < cols) tile[threadIdx.y][threadIdx.x] = *from;
    __syncthreads();
    column = blockIdx.y * 16 + threadIdx.x;
    row = blockIdx.x * 16 + threadIdx.y;
    if (row < cols && column < rows) out[row * rows + column] = tile[threadIdx.x][threadIdx.y];
}

struct Pair {
    float weight;
    unsigned count;
};

__device__ float scaled(float value, int times) {
    float sum = 0.0f;
    for (int k = 0; k < times; ++k) sum += value;
    return sum;
}

extern "C" __global__ void mixed(const float* in, double* out, Pair start) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    half small = __float2half(in[i]);
    half2 both = __halves2half2(small, __float2half(-2.0f));
    double wide = 1.0 / (i + 1);
    unsigned char byte = (unsigned char)(250 + i);
    bool even = i % 2 == 0;  // nvcc gives it no name
    Pair pair = {start.weight * i, start.count + i};
    int counts[4] = {1, 2, 3, (int)i};
    int steps = 0;
    while (steps < (int)(i % 4)) {
        counts[0] += 10;
        ++steps;
    }
    float grown = scaled(pair.weight, 3);
    out[i] = grown + wide + byte + even + counts[0] + __low2float(both) + pair.count;
}

extern "C" __global__ void speaks(int* out) {
    int i = threadIdx.x;
    int* list = (int*)malloc((i + 1) * sizeof(int));
    list[i] = 3 * i;
    if (i % 16 == 3) printf("%d of %s: %.1f\n", i, "speaks", list[i] / 2.0f);
    out[i] = list[i];
    if (i % 2) free(list);
}

extern "C" __global__ void waits(volatile int* flag, int* out) {
    if (blockIdx.x == 0) {
        while (*flag == 0) {}
    } else {
        *flag = 1;
    }
    out[blockIdx.x] = 1;
}

extern "C" __global__ void beyond(const float* in, float* out, int n) {
    int index = blockIdx.x * blockDim.x + threadIdx.x;
    if (index <= n) out[index] = 2.0f * in[index];
}

extern "C" __global__ void clash(float* out) {
    float value = blockIdx.x + 0.5f;
    if (threadIdx.x == 3) out[0] = value;
}

extern "C" __global__ void fused(const float* in, float* out) {
    int i = threadIdx.x;
    out[i] = in[i] * in[i] + in[63 - i];
}
