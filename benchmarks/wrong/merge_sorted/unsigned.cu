// Mistake: the comparison is one of unsigned numbers.
// Says: (negative|sign|unsigned)
#include <cstdint>
#include <cuda_runtime.h>

constexpr int kOwn = 8;

__global__ void merge(const int32_t* a, const int32_t* b, int32_t* out, int64_t n, int64_t m) {
    const int64_t first = (static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x) * kOwn;
    if (first >= n + m) return;
    int64_t low = first > m ? first - m : 0, high = first < n ? first : n;
    while (low < high) {
        const int64_t middle = (low + high) / 2;
        if (static_cast<uint32_t>(a[middle]) <= static_cast<uint32_t>(b[first - 1 - middle]))
            low = middle + 1;
        else
            high = middle;
    }
    int64_t i = low, j = first - low;
    for (int64_t place = first; place < first + kOwn && place < n + m; ++place) {
        const bool take_a = i < n && (j >= m || static_cast<uint32_t>(a[i]) <= static_cast<uint32_t>(b[j]));
        out[place] = take_a ? a[i++] : b[j++];
    }
}

extern "C" void solve(const int32_t* a, const int32_t* b, int32_t* out, int64_t n, int64_t m) {
    if (n + m == 0) return;
    merge<<<static_cast<unsigned>((n + m + 128 * kOwn - 1) / (128 * kOwn)), 128>>>(a, b, out, n, m);
}
