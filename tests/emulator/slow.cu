// Pairs of kernels: each first one is slow for one reason, on the line that a comment marks; the second is the same
// without that reason. Entry 2 * i is the slow one of pair i.
#include <cstdint>
#include <cuda_runtime.h>

// 0, uncoalesced: neighbouring threads write a column.
__global__ void transpose_columns(const float* a, float* out, int64_t n) {
    const int64_t column = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 8 + threadIdx.y;
    out[column * n + row] = a[row * n + column];  // slow: uncoalesced
}
__global__ void transpose_tile(const float* a, float* out, int64_t n) {
    __shared__ float tile[32][33];
    const int64_t column = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 32 + threadIdx.y;
    for (int i = 0; i < 32; i += 8) tile[threadIdx.y + i][threadIdx.x] = a[(row + i) * n + column];
    __syncthreads();
    const int64_t to = blockIdx.y * 32 + threadIdx.x, from = blockIdx.x * 32 + threadIdx.y;
    for (int i = 0; i < 32; i += 8) out[(from + i) * n + to] = tile[threadIdx.x][threadIdx.y + i];
}

// 1, banks: a column of the tile is in one bank.
template <int kPitch>
__global__ void transpose_pitch(const float* a, float* out, int64_t n) {
    __shared__ float tile[32][kPitch];
    const int64_t column = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 32 + threadIdx.y;
    for (int i = 0; i < 32; i += 8) tile[threadIdx.y + i][threadIdx.x] = a[(row + i) * n + column];
    __syncthreads();
    const int64_t to = blockIdx.y * 32 + threadIdx.x, from = blockIdx.x * 32 + threadIdx.y;
    for (int i = 0; i < 32; i += 8) out[(from + i) * n + to] = tile[threadIdx.x][threadIdx.y + i];  // slow: banks
}

// 2, divergence: neighbouring threads take different ways.
__device__ __noinline__ float upper(float x) {
    for (int i = 0; i < 64; ++i) x = fmaf(x, 0.99f, 0.01f);
    return x;
}
__device__ __noinline__ float lower(float x) {
    for (int i = 0; i < 64; ++i) x = fmaf(x, 0.98f, 0.02f);
    return x;
}
template <int kGroup>
__global__ void branches(const float* a, float* out) {
    const int i = blockIdx.x * 256 + threadIdx.x;
    float x = a[i];
    if (threadIdx.x / kGroup % 2 == 0)  // slow: divergence
        x = upper(x);
    else
        x = lower(x);
    out[i] = x;
}

// 3, reuse: each thread reads a row and a column from global memory.
__global__ void multiply_naive(const float* a, const float* b, float* out, int n, int k) {
    const int column = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
    float sum = 0.0f;
    for (int i = 0; i < k; ++i) sum += a[row * k + i] * b[i * n + column];  // slow: reuse
    out[row * n + column] = sum;
}
__global__ void multiply_tiles(const float* a, const float* b, float* out, int n, int k) {
    __shared__ float left[32][33], right[32][32];
    const int x = threadIdx.x, y = threadIdx.y, column = blockIdx.x * 32 + x, row = blockIdx.y * 32 + y;
    float sums[4] = {};
    for (int at = 0; at < k; at += 32) {
        for (int j = 0; j < 4; ++j) {
            left[y + 8 * j][x] = a[(row + 8 * j) * k + at + x];
            right[y + 8 * j][x] = b[(at + y + 8 * j) * n + column];
        }
        __syncthreads();
        for (int i = 0; i < 32; ++i)
            for (int j = 0; j < 4; ++j) sums[j] += left[y + 8 * j][i] * right[i][x];
        __syncthreads();
    }
    for (int j = 0; j < 4; ++j) out[(row + 8 * j) * n + column] = sums[j];
}

// 4, spills: 48 values a thread, and 32 registers.
__device__ __forceinline__ void rotate_all(const float* a, float* out, int rounds) {
    float v[48];
    const int t = blockIdx.x * blockDim.x + threadIdx.x;
#pragma unroll
    for (int j = 0; j < 48; ++j) v[j] = a[t] + j;
    for (int i = 0; i < rounds; ++i) {
#pragma unroll
        for (int j = 0; j < 48; ++j) v[j] = fmaf(v[j], v[(j + 7) % 48], 0.5f);  // slow: spills
    }
    float sum = 0.0f;
#pragma unroll
    for (int j = 0; j < 48; ++j) sum += v[j];
    out[t] = sum;
}
__global__ void __launch_bounds__(256, 8) rotate_spilled(const float* a, float* out, int rounds) { rotate_all(a, out, rounds); }
__global__ void __launch_bounds__(256) rotate_kept(const float* a, float* out, int rounds) { rotate_all(a, out, rounds); }

// 5, few blocks.
__global__ void add_strided(const float* a, const float* b, float* out, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) out[i] = a[i] + b[i];
}

// 6, tail: 133 blocks of equal work, each of which fills a multiprocessor.
__global__ void __launch_bounds__(1024) iterate(const float* a, float* out, int n, int rounds) {
    for (int i = blockIdx.x * 1024 + threadIdx.x; i < n; i += gridDim.x * 1024) {
        float x = a[i], y = x, z = x, w = x;
        for (int j = 0; j < rounds; ++j) {
            x = fmaf(x, 0.99f, 0.01f);
            y = fmaf(y, 0.98f, 0.02f);
            z = fmaf(z, 0.97f, 0.03f);
            w = fmaf(w, 0.96f, 0.04f);
        }
        out[i] = x + y + z + w;
    }
}

// 7, atomics: each thread adds to one number.
__global__ void sum_each(const float* a, float* out, int n) {
    const int i = blockIdx.x * 256 + threadIdx.x;
    if (i < n) atomicAdd(out, a[i]);  // slow: atomics
}
__global__ void sum_blocks(const float* a, float* out, int n) {
    __shared__ float parts[8];
    const int i = blockIdx.x * 256 + threadIdx.x;
    float x = i < n ? a[i] : 0.0f;
    for (int step = 16; step > 0; step /= 2) x += __shfl_down_sync(~0u, x, step);
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = x;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int w = 1; w < 8; ++w) x += parts[w];
        atomicAdd(out, x);
    }
}

// 8, launches: one for each term.
__global__ void add_terms(const float* a, float* out, int n, int from, int to) {
    const int i = blockIdx.x * 256 + threadIdx.x;
    if (i >= n) return;
    float x = from ? out[i] : 0.0f;
    for (int j = from; j < to; ++j) x += a[i] / (j + 1);
    out[i] = x;
}

// 9, 64-bit division in the inner loop.
__global__ void gather(const float* a, float* out, int64_t width, int rounds) {
    const int64_t i = static_cast<int64_t>(blockIdx.x) * 256 + threadIdx.x;
    float sum = 0.0f;
    for (int64_t j = 0; j < rounds; ++j) sum += a[(i + j) / width];  // slow: division
    out[i] = sum;
}
__global__ void gather_counting(const float* a, float* out, int width, int rounds) {
    const int i = blockIdx.x * 256 + threadIdx.x;
    float sum = 0.0f;
    int at = i / width, rest = i - at * width;
    for (int j = 0; j < rounds; ++j) {
        sum += a[at];
        const bool next = ++rest == width;
        at += next;
        rest = next ? 0 : rest;
    }
    out[i] = sum;
}

// 10, occupancy: shared memory for one block of a multiprocessor.
__global__ void smooth(const float* a, float* out, int n) {
    extern __shared__ float own[];
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        own[threadIdx.x] = a[i];
        __syncthreads();
        out[i] = 0.5f * (own[threadIdx.x] + own[(threadIdx.x + 1) % blockDim.x]);
        __syncthreads();
    }
}

// 11, blocks of one thread.
__global__ void add_one(const float* a, const float* b, float* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = a[i] + b[i];
}

// 12, chunks: each thread reads a run of its own.
__global__ void add_runs(const float* a, const float* b, float* out, int run) {
    const int t = blockIdx.x * 256 + threadIdx.x;
    for (int i = 0; i < run; ++i) out[t * run + i] = a[t * run + i] + b[t * run + i];  // slow: chunks
}

// 13, local memory: an array of a thread whose index is not known ahead.
template <bool kLocal>
__global__ void sort_of(const float* a, float* out, int rounds) {
    const int t = blockIdx.x * 256 + threadIdx.x;
    __shared__ float all[kLocal ? 1 : 32 * 256];
    float own[kLocal ? 32 : 1];
    auto at = [&](int i) -> float& { return kLocal ? own[i] : all[i * 256 + threadIdx.x]; };
    for (int i = 0; i < 32; ++i) at(i) = a[t] + i;
    int k = t;
    for (int i = 0; i < rounds; ++i) {
        k = (k * 5 + 1) & 31;
        at(k) = at((k + 7) & 31) + 1.0f;  // slow: local
    }
    float sum = 0.0f;
    for (int i = 0; i < 32; ++i) sum += at(i);
    out[t] = sum;
}

// 14, divergence in a tree.
template <bool kPacked>
__global__ void tree(const float* a, float* out) {
    __shared__ float parts[256];
    const int t = threadIdx.x;
    parts[t] = a[blockIdx.x * 256 + t];
    __syncthreads();
    if (kPacked) {
        for (int half = 128; half > 0; half /= 2) {
            if (t < half) parts[t] += parts[t + half];
            __syncthreads();
        }
    } else {
        for (int step = 1; step < 256; step *= 2) {
            if (t % (2 * step) == 0) parts[t] += parts[t + step];  // slow: tree
            __syncthreads();
        }
    }
    if (t == 0) out[blockIdx.x] = parts[0];
}

extern "C" int grader_entry(void** given) {
    const int entry = *static_cast<int*>(given[0]);
    const float *a = *static_cast<float**>(given[1]), *b = *static_cast<float**>(given[2]);
    float* out = *static_cast<float**>(given[3]);
    switch (entry) {
        case 0: transpose_columns<<<dim3(32, 128), dim3(32, 8)>>>(a, out, 1024); break;
        case 1: transpose_tile<<<dim3(32, 32), dim3(32, 8)>>>(a, out, 1024); break;
        case 2: transpose_pitch<32><<<dim3(32, 32), dim3(32, 8)>>>(a, out, 1024); break;
        case 3: transpose_pitch<33><<<dim3(32, 32), dim3(32, 8)>>>(a, out, 1024); break;
        case 4: branches<1><<<2048, 256>>>(a, out); break;
        case 5: branches<32><<<2048, 256>>>(a, out); break;
        case 6: multiply_naive<<<dim3(44, 44), dim3(16, 16)>>>(a, b, out, 704, 96); break;
        case 7: multiply_tiles<<<dim3(22, 22), dim3(32, 8)>>>(a, b, out, 704, 96); break;
        case 8: rotate_spilled<<<1056, 256>>>(a, out, 5); break;
        case 9: rotate_kept<<<1056, 256>>>(a, out, 5); break;
        case 10: add_strided<<<1, 32>>>(a, b, out, 1 << 15); break;
        case 11: add_strided<<<128, 256>>>(a, b, out, 1 << 15); break;
        case 12: iterate<<<133 * 2, 1024>>>(a, out, 133 * 2048, 60); break;
        case 13: iterate<<<132 * 2, 1024>>>(a, out, 132 * 2048, 60); break;
        case 14: sum_each<<<1024, 256>>>(a, out, 1 << 18); break;
        case 15: sum_blocks<<<1024, 256>>>(a, out, 1 << 18); break;
        case 16:
            for (int j = 0; j < 32; ++j) add_terms<<<64, 256>>>(a, out, 1 << 14, j, j + 1);
            break;
        case 17: add_terms<<<64, 256>>>(a, out, 1 << 14, 0, 32); break;
        case 18: gather<<<1056, 256>>>(a, out, 77, 16); break;
        case 19: gather_counting<<<1056, 256>>>(a, out, 77, 16); break;
        case 20:
            cudaFuncSetAttribute(smooth, cudaFuncAttributeMaxDynamicSharedMemorySize, 200 << 10);
            smooth<<<1056, 128, 200 << 10>>>(a, out, 1056 * 128 * 4);
            break;
        case 21: smooth<<<1056, 128, 512>>>(a, out, 1056 * 128 * 4); break;
        case 22: add_one<<<1 << 17, 1>>>(a, b, out); break;
        case 23: add_one<<<1 << 9, 256>>>(a, b, out); break;
        case 24: add_runs<<<128, 256>>>(a, b, out, 32); break;
        case 25: add_strided<<<4096, 256>>>(a, b, out, 1 << 20); break;
        case 26: sort_of<true><<<264, 256>>>(a, out, 64); break;
        case 27: sort_of<false><<<264, 256>>>(a, out, 64); break;
        case 28: tree<false><<<1024, 256>>>(a, out); break;
        case 29: tree<true><<<1024, 256>>>(a, out); break;
        default: return 1;
    }
    return cudaGetLastError();
}
