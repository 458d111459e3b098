// Merge path: the result is cut into tiles of equal length, and a search finds for each where its elements begin in a and in
// b. A block loads its two pieces into shared memory, and its threads cut the tile in the same way once more.
#include <climits>
#include <cstdint>
#include <cuda_runtime.h>

constexpr int kThreads = 256;
constexpr int kOwn = 15;  // elements per thread; odd, so that threads of a warp use different banks
constexpr int kTile = kThreads * kOwn;

// How many of the first `count` elements of the result come from a, if those of a come before equal ones of b.
__device__ int split(const int32_t* a, int n, const int32_t* b, int m, int count) {
    int low = max(0, count - m), high = min(count, n);
    while (low < high) {
        const int middle = low + (high - low) / 2;
        if (a[middle] <= b[count - 1 - middle])
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

// splits[t]: how many elements of a come before tile t. One more than there are tiles.
__global__ void __launch_bounds__(kThreads)
find_tiles(const int32_t* a, const int32_t* b, int* splits, int n, int m, int tiles) {
    const int tile = blockIdx.x * kThreads + threadIdx.x;
    if (tile > tiles) return;
    const int64_t before = static_cast<int64_t>(tile) * kTile;  // of the last one it may exceed 2^31
    splits[tile] = split(a, n, b, m, static_cast<int>(min(before, static_cast<int64_t>(n) + m)));
}

__global__ void __launch_bounds__(kThreads)
merge_tiles(const int32_t* a, const int32_t* b, const int* splits, int32_t* out, int n, int m) {
    __shared__ int32_t elements[kTile + 1];  // those of a, then those of b; the last one is read and not used
    const int first = blockIdx.x * kTile;
    const int length = min(kTile, n + m - first);
    const int begin_a = splits[blockIdx.x], from_a = splits[blockIdx.x + 1] - begin_a;
    const int32_t* piece_a = a + begin_a;
    const int32_t* piece_b = b + (first - begin_a);

    int32_t own[kOwn];  // all loads are on their way before the first is waited for
#pragma unroll
    for (int i = 0; i < kOwn; ++i) {
        const int place = i * kThreads + threadIdx.x;
        // Behind the end of the last tile there is the largest number: it stays at the end, and is not stored.
        own[i] = INT_MAX;
        if (place < length) own[i] = place < from_a ? piece_a[place] : piece_b[place - from_a];
    }
#pragma unroll
    for (int i = 0; i < kOwn; ++i) elements[i * kThreads + threadIdx.x] = own[i];
    if (threadIdx.x == 0) elements[kTile] = INT_MAX;
    __syncthreads();

    const int before = threadIdx.x * kOwn;
    int i = split(elements, from_a, elements + from_a, kTile - from_a, before);
    int j = from_a + before - i;
    int32_t of_a = elements[i], of_b = elements[j];
#pragma unroll
    for (int k = 0; k < kOwn; ++k) {
        const bool take_a = i < from_a && (j >= kTile || of_a <= of_b);
        own[k] = take_a ? of_a : of_b;
        const int32_t next = elements[take_a ? ++i : ++j];
        of_a = take_a ? next : of_a;
        of_b = take_a ? of_b : next;
    }
    __syncthreads();  // all have read
#pragma unroll
    for (int k = 0; k < kOwn; ++k) elements[before + k] = own[k];
    __syncthreads();
#pragma unroll
    for (int k = 0; k < kOwn; ++k) {
        const int place = k * kThreads + threadIdx.x;
        if (place < length) out[first + place] = elements[place];
    }
}

extern "C" void solve(const int32_t* a, const int32_t* b, int32_t* out, int64_t n, int64_t m) {
    if (n + m == 0) return;  // a grid of 0 blocks is a launch error
    const int tiles = static_cast<int>((n + m + kTile - 1) / kTile);
    int* splits = nullptr;
    if (cudaMallocAsync(reinterpret_cast<void**>(&splits), (tiles + 1) * sizeof(int), 0) != cudaSuccess) return;
    find_tiles<<<tiles / kThreads + 1, kThreads>>>(a, b, splits, static_cast<int>(n), static_cast<int>(m), tiles);
    merge_tiles<<<tiles, kThreads>>>(a, b, splits, out, static_cast<int>(n), static_cast<int>(m));
    cudaFreeAsync(splits, 0);
}
