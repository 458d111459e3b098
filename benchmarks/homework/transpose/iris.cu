#include <cooperative_groups.h>
#include <cuda_runtime.h>
#include <cstdint>

using namespace cooperative_groups;

struct Shape {
    int64_t rows, cols;
    __host__ __device__ Shape flipped() const { return Shape{cols, rows}; }
    __device__ bool holds(int64_t r, int64_t c) const { return r < rows && c < cols; }
    __device__ int64_t at(int64_t r, int64_t c) const { return r * cols + c; }
};

__global__ void grouped(const float* from, float* to, Shape shape) {
    __shared__ float buffer[32 * 33];
    thread_block me = this_thread_block();
    const Shape turned = shape.flipped();
    const int64_t tile_r = 32 * int64_t(me.group_index().y), tile_c = 32 * int64_t(me.group_index().x);
    const unsigned u = me.thread_rank() % 32;
    for (unsigned w = me.thread_rank() / 32; w < 32; w += me.size() / 32)
        if (shape.holds(tile_r + w, tile_c + u)) buffer[w * 33 + u] = from[shape.at(tile_r + w, tile_c + u)];
    me.sync();
    for (unsigned w = me.thread_rank() / 32; w < 32; w += me.size() / 32)
        if (turned.holds(tile_c + w, tile_r + u)) to[turned.at(tile_c + w, tile_r + u)] = buffer[u * 33 + w];
}

extern "C" void solve(const float* x, float* out, int64_t rows, int64_t cols) {
    if (rows < 1 || cols < 1) return;
    grouped<<<dim3(unsigned(cols + 31) / 32, unsigned(rows + 31) / 32), 128>>>(x, out, Shape{rows, cols});
}
