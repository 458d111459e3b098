// Convolutions with the mask in constant memory: 1D with halo cells in shared memory, 2D by tiles.
#include <cstdio>
#include <cuda_runtime.h>
#include <vector>

constexpr int RADIUS = 4, WIDTH = 2 * RADIUS + 1, R2 = 2, TILE = 16, BLOCK = TILE + 2 * R2;
__constant__ float mask1[WIDTH];
__constant__ float mask2[2 * R2 + 1][2 * R2 + 1];

__global__ void one_dimension(const float* in, float* out, int n) {
    __shared__ float room[256 + 2 * RADIUS];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    room[threadIdx.x + RADIUS] = i < n ? in[i] : 0;
    if (threadIdx.x < RADIUS) {
        room[threadIdx.x] = i >= RADIUS ? in[i - RADIUS] : 0;
        room[threadIdx.x + RADIUS + blockDim.x] = i + blockDim.x < n ? in[i + blockDim.x] : 0;
    }
    __syncthreads();
    if (i >= n) return;
    float sum = 0;
    for (int k = 0; k < WIDTH; k++) sum += room[threadIdx.x + k] * mask1[k];
    out[i] = sum;
}
__global__ void two_dimensions(const float* in, float* out, int width, int height) {
    __shared__ float room[BLOCK][BLOCK];
    int tx = threadIdx.x, ty = threadIdx.y, x = blockIdx.x * TILE + tx - R2, y = blockIdx.y * TILE + ty - R2;
    room[ty][tx] = x >= 0 && x < width && y >= 0 && y < height ? in[y * width + x] : 0;
    __syncthreads();
    if (tx < R2 || tx >= TILE + R2 || ty < R2 || ty >= TILE + R2 || x >= width || y >= height) return;
    float sum = 0;
    for (int j = -R2; j <= R2; j++)
        for (int i = -R2; i <= R2; i++) sum += room[ty + j][tx + i] * mask2[j + R2][i + R2];
    out[y * width + x] = sum;
}

int main() {
    const int n = 10000, width = 93, height = 71;
    std::vector<float> signal(n), image(width * height), filtered(n), blurred(width * height);
    for (int i = 0; i < n; i++) signal[i] = static_cast<float>(i % 100) - 50 + i % 3;
    for (int i = 0; i < width * height; i++) image[i] = static_cast<float>(i * 13 % 256);
    float m1[WIDTH], m2[5][5];
    for (int i = 0; i < WIDTH; i++) m1[i] = 1.0f / (1 + abs(i - RADIUS));
    for (int i = 0; i < 25; i++) m2[i / 5][i % 5] = (i % 7) / 25.0f;
    cudaMemcpyToSymbol(mask1, m1, sizeof m1);
    cudaMemcpyToSymbol(mask2, m2, sizeof m2);
    float *in, *out;
    cudaMalloc(&in, n * sizeof(float));
    cudaMalloc(&out, n * sizeof(float));
    cudaMemcpy(in, signal.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    one_dimension<<<(n + 255) / 256, 256>>>(in, out, n);
    cudaMemcpy(filtered.data(), out, n * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(in, image.data(), image.size() * sizeof(float), cudaMemcpyHostToDevice);
    two_dimensions<<<dim3((width + TILE - 1) / TILE, (height + TILE - 1) / TILE), dim3(BLOCK, BLOCK)>>>(in, out, width, height);
    cudaMemcpy(blurred.data(), out, blurred.size() * sizeof(float), cudaMemcpyDeviceToHost);
    double first = 0, second = 0;
    for (int i = 0; i < n; i++) first += filtered[i] * (i % 5);
    for (int i = 0; i < width * height; i++) second += blurred[i] * (i % 5);
    printf("convolution: %.7g %.7g, checksums %.9g %.9g\n", filtered[4321], blurred[1234], first, second);
    cudaFree(in);
    cudaFree(out);
    return 0;
}
