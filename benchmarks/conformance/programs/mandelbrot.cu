// The Mandelbrot set in double and in single precision.
#include <cstdio>
#include <cuda_runtime.h>
#include <vector>

template <typename T>
__global__ void escape(int* steps, int width, int height, int most) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    T a = T(-2.2) + T(3) * x / width, b = T(-1.2) + T(2.4) * y / height, re = 0, im = 0;
    int n = 0;
    for (; n < most && re * re + im * im < T(4); n++) {
        T next = re * re - im * im + a;
        im = 2 * re * im + b;
        re = next;
    }
    steps[y * width + x] = n;
}

int main() {
    const int width = 78, height = 40;
    std::vector<int> host(width * height);
    int* steps;
    cudaMalloc(&steps, host.size() * sizeof(int));
    dim3 block(16, 8), grid((width + 15) / 16, (height + 7) / 8);
    for (int which = 0; which < 2; which++) {
        if (which == 0) escape<double><<<grid, block>>>(steps, width, height, 200);
        else escape<float><<<grid, block>>>(steps, width, height, 200);
        cudaMemcpy(host.data(), steps, host.size() * sizeof(int), cudaMemcpyDeviceToHost);
        unsigned checksum = 0;
        for (int it : host) checksum = checksum * 31 + it;
        printf("mandelbrot %s: checksum %u\n", which ? "float" : "double", checksum);
    }
    for (int y = 0; y < height; y += 4) {
        for (int x = 0; x < width; x++) putchar(" .:-=+*#%@"[host[y * width + x] / 2 < 9 ? host[y * width + x] / 2 : 9]);
        putchar('\n');
    }
    cudaFree(steps);
    return 0;
}
