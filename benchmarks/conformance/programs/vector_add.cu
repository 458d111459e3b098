// Vector addition with checked calls and a grid that is rounded up.
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define CHECK(call)                                                                                     \
    do {                                                                                                \
        cudaError_t status = (call);                                                                    \
        if (status != cudaSuccess) {                                                                    \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status));             \
            exit(EXIT_FAILURE);                                                                         \
        }                                                                                               \
    } while (0)

__global__ void add(const float* a, const float* b, float* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}

int main() {
    const int n = 50000;
    const size_t bytes = n * sizeof(float);
    float *a = static_cast<float*>(malloc(bytes)), *b = static_cast<float*>(malloc(bytes)), *c = static_cast<float*>(malloc(bytes));
    for (int i = 0; i < n; i++) { a[i] = i * 0.25f; b[i] = (n - i) * 0.5f; }
    float *d_a, *d_b, *d_c;
    CHECK(cudaMalloc(&d_a, bytes));
    CHECK(cudaMalloc(&d_b, bytes));
    CHECK(cudaMalloc(&d_c, bytes));
    CHECK(cudaMemcpy(d_a, a, bytes, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_b, b, bytes, cudaMemcpyHostToDevice));
    add<<<(n + 255) / 256, 256>>>(d_a, d_b, d_c, n);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(c, d_c, bytes, cudaMemcpyDeviceToHost));
    double sum = 0;
    int wrong = 0;
    for (int i = 0; i < n; i++) { sum += c[i]; wrong += c[i] != a[i] + b[i]; }
    printf("vector_add: %d elements, %d wrong, c[1]=%g, checksum %.3f\n", n, wrong, c[1], sum);
    CHECK(cudaFree(d_a));
    CHECK(cudaFree(d_b));
    CHECK(cudaFree(d_c));
    free(a);
    free(b);
    free(c);
    return wrong != 0;
}
