// RMS normalisation: one block per row. A row of up to 8192 elements is read once and kept in registers; longer rows are
// read twice.
#include <cstdint>
#include <cuda_runtime.h>

// Adds up ``value`` over the block; every thread gets the sum. To be called once: a second call would need a barrier
// ahead of it, as somebody may still be reading the parts.
template <int kThreads>
__device__ float block_sum(float value) {
    for (int offset = 16; offset > 0; offset /= 2) value += __shfl_xor_sync(~0u, value, offset);
    if constexpr (kThreads > 32) {
        constexpr int kWarps = kThreads / 32;
        __shared__ float parts[kWarps];
        if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = value;
        __syncthreads();
        value = parts[threadIdx.x % kWarps];
        for (int offset = kWarps / 2; offset > 0; offset /= 2) value += __shfl_xor_sync(~0u, value, offset);
    }
    return value;
}

// kQuads: cols is a multiple of 4, so every row begins at a multiple of 16 bytes and may be read as float4. Neighbouring
// threads then take neighbouring quads, otherwise neighbouring elements.
template <int kThreads, int kKept, bool kQuads>
__global__ void __launch_bounds__(kThreads)
short_rows(const float* x, const float* gamma, float* out, float eps, int cols) {
    const float* row = x + blockIdx.x * static_cast<int64_t>(cols);  // 64 bits: rows * cols may exceed 2^31
    float* result = out + blockIdx.x * static_cast<int64_t>(cols);
    const int thread = threadIdx.x;

    float kept[kKept];  // all loads are on their way before the first is waited for
    if constexpr (kQuads) {
        for (int i = 0; i < kKept; i += 4) {
            const int column = i * kThreads + thread * 4;
            const float4 quad = column < cols ? *reinterpret_cast<const float4*>(row + column) : float4{};
            kept[i] = quad.x, kept[i + 1] = quad.y, kept[i + 2] = quad.z, kept[i + 3] = quad.w;
        }
    } else {
        for (int i = 0; i < kKept; ++i) {
            const int column = i * kThreads + thread;
            kept[i] = column < cols ? row[column] : 0.0f;
        }
    }

    float squares = 0.0f;  // what lies beyond the row is 0 and changes nothing
    for (int i = 0; i < kKept; ++i) squares += kept[i] * kept[i];
    // Divided by the elements of the row, not by the lanes of the block.
    const float factor = rsqrtf(block_sum<kThreads>(squares) / cols + eps);

    if constexpr (kQuads) {
        for (int i = 0; i < kKept; i += 4) {
            const int column = i * kThreads + thread * 4;
            if (column >= cols) break;
            const float4 scale = *reinterpret_cast<const float4*>(gamma + column);
            *reinterpret_cast<float4*>(result + column) =
                make_float4(kept[i] * factor * scale.x, kept[i + 1] * factor * scale.y,
                            kept[i + 2] * factor * scale.z, kept[i + 3] * factor * scale.w);
        }
    } else {
        for (int i = 0; i < kKept; ++i) {
            const int column = i * kThreads + thread;
            if (column < cols) result[column] = kept[i] * factor * gamma[column];
        }
    }
}

constexpr int kLongThreads = 512;
constexpr int kChunk = 8;  // loads of a thread that are on their way together

// Rows that do not fit into registers: squares in a first pass, a second pass that writes.
__global__ void __launch_bounds__(kLongThreads)
long_rows(const float* x, const float* gamma, float* out, float eps, int64_t cols) {
    const float* row = x + blockIdx.x * cols;
    float* result = out + blockIdx.x * cols;

    float squares = 0.0f;
    for (int64_t begin = threadIdx.x; begin < cols; begin += kLongThreads * kChunk) {
        float chunk[kChunk];
        for (int i = 0; i < kChunk; ++i) {
            const int64_t column = begin + i * kLongThreads;
            chunk[i] = column < cols ? row[column] : 0.0f;
        }
        for (int i = 0; i < kChunk; ++i) squares += chunk[i] * chunk[i];
    }
    const float factor = rsqrtf(block_sum<kLongThreads>(squares) / cols + eps);

    for (int64_t i = threadIdx.x; i < cols; i += kLongThreads) result[i] = row[i] * factor * gamma[i];
}

// Launches short_rows for rows of at most kThreads * kKept elements.
template <int kThreads, int kKept>
void launch(const float* x, const float* gamma, float* out, float eps, int64_t rows, int64_t cols) {
    const unsigned blocks = static_cast<unsigned>(rows);
    if (cols % 4 == 0)
        short_rows<kThreads, kKept, true><<<blocks, kThreads>>>(x, gamma, out, eps, static_cast<int>(cols));
    else
        short_rows<kThreads, kKept, false><<<blocks, kThreads>>>(x, gamma, out, eps, static_cast<int>(cols));
}

extern "C" void solve(const float* x, const float* gamma, float* out, float eps, int64_t rows, int64_t cols) {
    if (rows == 0 || cols == 0) return;  // a grid of 0 blocks is a launch error
    // Short rows take a single warp, which needs no barrier; longer ones as many threads as keep 16 elements each.
    if (cols <= 256)
        launch<32, 8>(x, gamma, out, eps, rows, cols);
    else if (cols <= 1024)
        launch<32, 32>(x, gamma, out, eps, rows, cols);
    else if (cols <= 4096)
        launch<256, 16>(x, gamma, out, eps, rows, cols);
    else if (cols <= 8192)
        launch<512, 16>(x, gamma, out, eps, rows, cols);
    else
        long_rows<<<static_cast<unsigned>(rows), kLongThreads>>>(x, gamma, out, eps, cols);
}
