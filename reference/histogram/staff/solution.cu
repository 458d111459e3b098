// Histogram: each block counts into counters of its own in shared memory, several for each bin, then adds them to out.
#include <cstdint>
#include <cuda_runtime.h>

constexpr int kThreads = 512;
constexpr int kFlight = 4;           // 16-byte loads that a thread has under way at once
constexpr int64_t kCounters = 8192;  // 32 KiB of shared memory: fits on every GPU without asking for more
// A lane of a warp for each copy: more would not be told apart.
constexpr int kMostCopies = 32;

// Counts one value. A bin's counters lie side by side, one for each copy. With 32 copies every lane of a warp has a
// bank of shared memory to itself: no two additions of a warp ever meet, not even where all values are equal.
__device__ void count(int32_t* own, int32_t value, unsigned bins, int shift, int copy) {
    // As an unsigned number, a negative value is larger than any bin.
    if (static_cast<unsigned>(value) < bins) atomicAdd(&own[(value << shift) + copy], 1);
}

__global__ void __launch_bounds__(kThreads)
count_own(const int32_t* x, int32_t* out, int64_t n, unsigned bins, int shift) {
    extern __shared__ int32_t own[];
    const int copies = 1 << shift, copy = threadIdx.x % copies;
    for (unsigned i = threadIdx.x; i < bins << shift; i += kThreads) own[i] = 0;
    __syncthreads();

    // Arrays begin at a multiple of 256 bytes: the values are taken in fours. 64 bits: n may exceed 2^31.
    const int4* fours = reinterpret_cast<const int4*>(x);
    const int64_t first = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
    const int64_t step = static_cast<int64_t>(gridDim.x) * kThreads;
    int64_t i = first;
    for (; i + (kFlight - 1) * step < n / 4; i += kFlight * step) {
        int4 four[kFlight];
#pragma unroll
        for (int f = 0; f < kFlight; ++f) four[f] = fours[i + f * step];
#pragma unroll
        for (int f = 0; f < kFlight; ++f) {
            count(own, four[f].x, bins, shift, copy);
            count(own, four[f].y, bins, shift, copy);
            count(own, four[f].z, bins, shift, copy);
            count(own, four[f].w, bins, shift, copy);
        }
    }
    // What is left over: fours first, then up to three values.
    for (; i < n / 4; i += step)
        for (int64_t j = i * 4; j < i * 4 + 4; ++j) count(own, x[j], bins, shift, copy);
    for (int64_t j = n / 4 * 4 + first; j < n; j += step) count(own, x[j], bins, shift, copy);
    __syncthreads();

    for (unsigned bin = threadIdx.x; bin < bins; bin += kThreads) {
        int32_t sum = 0;
        // Each thread begins with another copy: otherwise all would read from the same bank.
        for (int c = 0; c < copies; ++c) sum += own[(bin << shift) + ((c + threadIdx.x) & (copies - 1))];
        // Blocks meet here: only an atomic addition loses none.
        if (sum != 0) atomicAdd(&out[bin], sum);
    }
}

// For more bins than fit on chip: straight into out. With so many, few threads meet at one.
__global__ void count_shared(const int32_t* x, int32_t* out, int64_t n, int64_t bins) {
    const int64_t i = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
    if (i < n && x[i] >= 0 && x[i] < bins) atomicAdd(&out[x[i]], 1);
}

extern "C" void solve(const int32_t* x, int32_t* out, int64_t n, int64_t bins) {
    if (bins == 0) return;  // out is empty
    cudaMemsetAsync(out, 0, bins * sizeof(int32_t), 0);
    if (n == 0) return;  // all bins are 0 already, and a grid of 0 blocks is a launch error
    if (bins > kCounters) {
        count_shared<<<static_cast<unsigned>((n + kThreads - 1) / kThreads), kThreads>>>(x, out, n, bins);
        return;
    }
    int shift = 0;
    while ((2 << shift) <= kMostCopies && (bins << (shift + 1)) <= kCounters) ++shift;
    const size_t bytes = static_cast<size_t>(bins << shift) * sizeof(int32_t);
    // As many blocks as run at once, so that clearing and adding up happen no more often than they must.
    int device = 0, multiprocessors = 1, resident = 1;
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, count_own, kThreads, bytes);
    const int64_t wanted = (n + 4 * kThreads - 1) / (4 * kThreads), most = int64_t{multiprocessors} * resident;
    count_own<<<static_cast<unsigned>(wanted < most ? wanted : most), kThreads, bytes>>>(
        x, out, n, static_cast<unsigned>(bins), shift);
}
