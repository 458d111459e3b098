// Mistake: fills the tile with the next plane while other threads still read it.
#include <cstdint>
#include <cuda_runtime.h>

constexpr int kSide = 16;

__global__ void step(const float* from, float* to, float alpha, int64_t depth, int64_t height, int64_t width) {
    __shared__ float tile[kSide + 2][kSide + 2];
    const int64_t row0 = blockIdx.y * kSide, column0 = blockIdx.x * kSide, area = height * width;
    const int64_t row = row0 + threadIdx.y, column = column0 + threadIdx.x;
    const int thread = threadIdx.y * kSide + threadIdx.x, y = threadIdx.y + 1, x = threadIdx.x + 1;
    const bool there = row < height && column < width;
    const float* own = from + row * width + column;
    float before = 0.0f, after = there ? own[0] : 0.0f;
    for (int64_t plane = 0; plane < depth; ++plane, own += area) {
        for (int i = thread; i < (kSide + 2) * (kSide + 2); i += kSide * kSide) {
            const int64_t r = row0 + i / (kSide + 2) - 1, c = column0 + i % (kSide + 2) - 1;
            const bool in = r >= 0 && r < height && c >= 0 && c < width;
            tile[i / (kSide + 2)][i % (kSide + 2)] = in ? from[plane * area + r * width + c] : 0.0f;
        }
        const float now = after;
        after = there && plane + 1 < depth ? own[area] : 0.0f;
        __syncthreads();
        const bool inner = plane > 0 && plane < depth - 1 && row > 0 && row < height - 1 && column > 0 && column < width - 1;
        const float total = before + after + tile[y - 1][x] + tile[y + 1][x] + tile[y][x - 1] + tile[y][x + 1];
        const float value = (1.0f - 6.0f * alpha) * now + alpha * total;
        if (there) to[plane * area + row * width + column] = inner ? value : now;
        before = now;
    }
}

extern "C" void solve(const float* grid, float* out, float* scratch, float alpha, int32_t steps, int64_t depth,
                      int64_t height, int64_t width) {
    const int64_t count = depth * height * width;
    if (count == 0) return;
    if (steps == 0) cudaMemcpyAsync(out, grid, count * sizeof(float), cudaMemcpyDeviceToDevice);
    const dim3 blocks((width + kSide - 1) / kSide, (height + kSide - 1) / kSide);
    const float* from = grid;
    for (int32_t left = steps; left > 0; --left) {
        float* to = left % 2 ? out : scratch;
        step<<<blocks, dim3(kSide, kSide)>>>(from, to, alpha, depth, height, width);
        from = to;
    }
}
