// Mistake: follows 32 edges of a vertex at most, one for each lane of a warp.
#include <cstdint>
#include <cuda_runtime.h>

constexpr int kThreads = 256;

__global__ void start(int32_t* level, uint8_t* marks, int64_t n, int64_t source) {
    const int64_t v = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
    if (v >= n) return;
    level[v] = v == source ? 0 : -1;
    marks[v] = 0;
}

__global__ void expand(const int32_t* row_ptr, const int32_t* col, const int32_t* level, uint8_t* marks, int64_t n,
                       int present) {
    const int64_t v = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
    if (v >= n || level[v] != present - 1) return;
    for (int e = row_ptr[v]; e < row_ptr[v + 1] && e < row_ptr[v] + 32; ++e) marks[col[e]] = 1;
}

__global__ void settle(int32_t* level, const uint8_t* marks, int64_t n, int present) {
    const int64_t v = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
    if (v < n && level[v] < 0 && marks[v] != 0) level[v] = present;
}

extern "C" void solve(const int32_t* row_ptr, const int32_t* col, int32_t* level, int64_t n, int64_t m, int64_t source,
                      int64_t depth) {
    const unsigned blocks = static_cast<unsigned>((n + kThreads - 1) / kThreads);
    uint8_t* marks = nullptr;
    cudaMalloc(&marks, n);
    start<<<blocks, kThreads>>>(level, marks, n, source);
    for (int present = 1; present <= depth; ++present) {
        expand<<<blocks, kThreads>>>(row_ptr, col, level, marks, n, present);
        settle<<<blocks, kThreads>>>(level, marks, n, present);
    }
    cudaFree(marks);
}
