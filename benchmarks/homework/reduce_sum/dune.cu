#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cstdint>

namespace cg = cooperative_groups;

__global__ void with_groups(const float* data, float* result, int64_t count) {
    auto block = cg::this_thread_block();
    auto tile = cg::tiled_partition<32>(block);
    float acc = 0;
    for (int64_t at = cg::this_grid().thread_rank(); at < count; at += cg::this_grid().size()) acc += data[at];
    acc = cg::reduce(tile, acc, cg::plus<float>());
    if (tile.thread_rank() == 0) atomicAdd(result, acc);
}

__global__ void clear(float* result) { *result = 0; }

extern "C" void solve(const float* x, float* out, int64_t n) {
    clear<<<1, 1>>>(out);
    int grid = n > 100000 ? 264 : 8;
    with_groups<<<grid, 256>>>(x, out, n);
}
