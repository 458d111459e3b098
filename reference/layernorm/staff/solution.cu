// Layer normalisation: one block per row. A row of up to 8192 elements is read once and kept in registers, so that mean
// and variance can be taken one after the other, exactly, for the price of one read. Longer rows are read twice.
#include <cstdint>
#include <cuda_runtime.h>

// Adds up ``value`` over the block; every thread gets the sum.
template <int kThreads>
__device__ float block_sum(float value) {
    for (int offset = 16; offset > 0; offset /= 2) value += __shfl_xor_sync(~0u, value, offset);
    if constexpr (kThreads > 32) {
        constexpr int kWarps = kThreads / 32;
        __shared__ float parts[kWarps];
        __syncthreads();  // somebody may still be reading the parts of the sum before
        if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = value;
        __syncthreads();
        value = parts[threadIdx.x % kWarps];
        for (int offset = kWarps / 2; offset > 0; offset /= 2) value += __shfl_xor_sync(~0u, value, offset);
    }
    return value;
}

// Which column a thread's i-th element lies in. Neighbouring threads take neighbouring elements, or neighbouring
// quads where a quad can be loaded at once.
template <int kThreads, bool kQuads>
__device__ int column_of(int i) {
    if constexpr (kQuads) return (i / 4 * kThreads + static_cast<int>(threadIdx.x)) * 4 + i % 4;
    return i * kThreads + static_cast<int>(threadIdx.x);
}

// kQuads: cols is a multiple of 4, so every row begins at a multiple of 16 bytes and may be read as float4.
template <int kThreads, int kKept, bool kQuads>
__global__ void __launch_bounds__(kThreads)
short_rows(const float* x, const float* gamma, const float* beta, float* out, float eps, int cols) {
    const float* row = x + blockIdx.x * static_cast<int64_t>(cols);  // 64 bits: rows * cols may exceed 2^31
    float* result = out + blockIdx.x * static_cast<int64_t>(cols);

    float kept[kKept];  // all loads are on their way before the first is waited for
    if constexpr (kQuads) {
        for (int i = 0; i < kKept; i += 4) {
            const int column = column_of<kThreads, true>(i);
            const float4 quad = column < cols ? *reinterpret_cast<const float4*>(row + column) : float4{};
            kept[i] = quad.x, kept[i + 1] = quad.y, kept[i + 2] = quad.z, kept[i + 3] = quad.w;
        }
    } else {
        for (int i = 0; i < kKept; ++i) {
            const int column = column_of<kThreads, false>(i);
            kept[i] = column < cols ? row[column] : 0.0f;
        }
    }

    float sum = 0.0f;  // what lies beyond the row is 0 and changes nothing
    for (int i = 0; i < kKept; ++i) sum += kept[i];
    const float mean = block_sum<kThreads>(sum) / cols;

    // The deviations first, then their squares: E[x^2] - E[x]^2 would lose every digit where the mean is large.
    float squares = 0.0f;
    for (int i = 0; i < kKept; ++i) {
        const float deviation = kept[i] - mean;
        // Beyond the row the deviation is -mean: it must not be counted.
        if (column_of<kThreads, kQuads>(i) < cols) squares += deviation * deviation;
    }
    const float rstd = rsqrtf(block_sum<kThreads>(squares) / cols + eps);

    if constexpr (kQuads) {
        for (int i = 0; i < kKept; i += 4) {
            const int column = column_of<kThreads, true>(i);
            if (column >= cols) break;
            const float4 scale = *reinterpret_cast<const float4*>(gamma + column);
            const float4 shift = *reinterpret_cast<const float4*>(beta + column);
            *reinterpret_cast<float4*>(result + column) = make_float4(
                (kept[i] - mean) * rstd * scale.x + shift.x, (kept[i + 1] - mean) * rstd * scale.y + shift.y,
                (kept[i + 2] - mean) * rstd * scale.z + shift.z, (kept[i + 3] - mean) * rstd * scale.w + shift.w);
        }
    } else {
        for (int i = 0; i < kKept; ++i) {
            const int column = column_of<kThreads, false>(i);
            if (column < cols) result[column] = (kept[i] - mean) * rstd * gamma[column] + beta[column];
        }
    }
}

constexpr int kLongThreads = 512;
constexpr int kChunk = 8;  // elements per thread that are looked at together

// Mean and sum of squared deviations of ``count`` elements.
struct Moments {
    float count;
    float mean;
    float squares;
};

// Two sets of elements become one: deviations from the common mean are those from the own mean and the way between.
__device__ Moments merge(Moments a, Moments b) {
    const float count = a.count + b.count;
    if (count == 0.0f) return a;
    const float share = b.count / count, way = b.mean - a.mean;
    return {count, a.mean + way * share, a.squares + b.squares + way * way * a.count * share};
}

// Rows that do not fit into registers: moments in a first pass, chunk by chunk, and a second pass that writes.
__global__ void __launch_bounds__(kLongThreads)
long_rows(const float* x, const float* gamma, const float* beta, float* out, float eps, int64_t cols) {
    const float* row = x + blockIdx.x * cols;
    float* result = out + blockIdx.x * cols;

    Moments mine = {0.0f, 0.0f, 0.0f};
    for (int64_t begin = 0; begin < cols; begin += kLongThreads * kChunk) {
        float chunk[kChunk];
        Moments here = {0.0f, 0.0f, 0.0f};
        for (int i = 0; i < kChunk; ++i) {
            const int64_t column = begin + i * kLongThreads + threadIdx.x;
            chunk[i] = column < cols ? row[column] : 0.0f;
            here.mean += chunk[i];
            here.count += column < cols ? 1.0f : 0.0f;
        }
        if (here.count == 0.0f) break;
        here.mean /= here.count;
        for (int i = 0; i < kChunk; ++i) {
            const float deviation = chunk[i] - here.mean;
            if (i < here.count) here.squares += deviation * deviation;  // only the first ``count`` are in the row
        }
        mine = merge(mine, here);
    }

    __shared__ Moments parts[kLongThreads];
    parts[threadIdx.x] = mine;
    __syncthreads();
    for (int half = kLongThreads / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) parts[threadIdx.x] = merge(parts[threadIdx.x], parts[threadIdx.x + half]);
        __syncthreads();
    }
    const float mean = parts[0].mean;
    const float rstd = rsqrtf(parts[0].squares / parts[0].count + eps);

    for (int64_t i = threadIdx.x; i < cols; i += kLongThreads)
        result[i] = (row[i] - mean) * rstd * gamma[i] + beta[i];
}

// Launches short_rows for rows of at most kThreads * kKept elements.
template <int kThreads, int kKept>
void launch(const float* x, const float* gamma, const float* beta, float* out, float eps, int64_t rows, int64_t cols) {
    const unsigned blocks = static_cast<unsigned>(rows);
    if (cols % 4 == 0)
        short_rows<kThreads, kKept, true><<<blocks, kThreads>>>(x, gamma, beta, out, eps, static_cast<int>(cols));
    else
        short_rows<kThreads, kKept, false><<<blocks, kThreads>>>(x, gamma, beta, out, eps, static_cast<int>(cols));
}

extern "C" void solve(const float* x, const float* gamma, const float* beta, float* out, float eps, int64_t rows,
                      int64_t cols) {
    if (rows == 0 || cols == 0) return;  // a grid of 0 blocks is a launch error
    // Short rows take a single warp, which needs no __syncthreads; longer ones as many threads as keep 16 elements.
    if (cols <= 256)
        launch<32, 8>(x, gamma, beta, out, eps, rows, cols);
    else if (cols <= 1024)
        launch<32, 32>(x, gamma, beta, out, eps, rows, cols);
    else if (cols <= 4096)
        launch<256, 16>(x, gamma, beta, out, eps, rows, cols);
    else if (cols <= 8192)
        launch<512, 16>(x, gamma, beta, out, eps, rows, cols);
    else
        long_rows<<<static_cast<unsigned>(rows), kLongThreads>>>(x, gamma, beta, out, eps, cols);
}
