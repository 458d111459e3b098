// Gravity among all bodies, with positions by tiles in shared memory and leapfrog steps.
#include <cmath>
#include <cstdio>
#include <cuda_runtime.h>
#include <vector>

constexpr int THREADS = 64;
constexpr float SOFTENING = 0.01f, STEP = 0.01f;

__global__ void forces(const float4* bodies, float3* acceleration, int n) {
    __shared__ float4 tile[THREADS];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 me = i < n ? bodies[i] : make_float4(0, 0, 0, 0);
    float3 sum = make_float3(0, 0, 0);
    for (int start = 0; start < n; start += THREADS) {
        int j = start + threadIdx.x;
        tile[threadIdx.x] = j < n ? bodies[j] : make_float4(0, 0, 0, 0);
        __syncthreads();
        for (int k = 0; k < THREADS; k++) {
            float dx = tile[k].x - me.x, dy = tile[k].y - me.y, dz = tile[k].z - me.z;
            float squared = dx * dx + dy * dy + dz * dz + SOFTENING;
            float scale = tile[k].w / (squared * sqrtf(squared));
            sum.x += dx * scale;
            sum.y += dy * scale;
            sum.z += dz * scale;
        }
        __syncthreads();
    }
    if (i < n) acceleration[i] = sum;
}
__global__ void move(float4* bodies, float3* velocity, const float3* acceleration, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    velocity[i].x += STEP * acceleration[i].x;
    velocity[i].y += STEP * acceleration[i].y;
    velocity[i].z += STEP * acceleration[i].z;
    bodies[i].x += STEP * velocity[i].x;
    bodies[i].y += STEP * velocity[i].y;
    bodies[i].z += STEP * velocity[i].z;
}

int main() {
    const int n = 300;
    std::vector<float4> host(n);
    for (int i = 0; i < n; i++) host[i] = make_float4((i * 37 % 101) / 50.0f - 1, (i * 53 % 97) / 48.0f - 1, (i * 71 % 89) / 44.0f - 1, (i % 5 + 1) / 900.0f);
    float4* bodies;
    float3 *velocity, *acceleration;
    cudaMalloc(&bodies, n * sizeof(float4));
    cudaMalloc(&velocity, n * sizeof(float3));
    cudaMalloc(&acceleration, n * sizeof(float3));
    cudaMemcpy(bodies, host.data(), n * sizeof(float4), cudaMemcpyHostToDevice);
    cudaMemset(velocity, 0, n * sizeof(float3));
    for (int step = 0; step < 5; step++) {
        forces<<<(n + THREADS - 1) / THREADS, THREADS>>>(bodies, acceleration, n);
        move<<<(n + THREADS - 1) / THREADS, THREADS>>>(bodies, velocity, acceleration, n);
    }
    cudaMemcpy(host.data(), bodies, n * sizeof(float4), cudaMemcpyDeviceToHost);
    double checksum = 0;
    for (int i = 0; i < n; i++) checksum += (i + 1) * (static_cast<double>(host[i].x) + 2.0 * host[i].y + 3.0 * host[i].z);
    printf("n-body: first at (%.7f, %.7f, %.7f), checksum %.9g\n", host[0].x, host[0].y, host[0].z, checksum);
    cudaFree(bodies);
    cudaFree(velocity);
    cudaFree(acceleration);
    return 0;
}
