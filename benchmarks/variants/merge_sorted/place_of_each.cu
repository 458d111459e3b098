// A binary search for the place of each element.
#include <cstdint>
#include <cuda_runtime.h>

// Elements of `own` come before equal ones of `others`, or after them.
__global__ void place(const int32_t* own, const int32_t* others, int32_t* out, int64_t n, int64_t m, bool after) {
    const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const int32_t value = own[i];
    int64_t low = 0, high = m;
    while (low < high) {
        const int64_t middle = (low + high) / 2;
        if (others[middle] < value || (after && others[middle] == value))
            low = middle + 1;
        else
            high = middle;
    }
    out[i + low] = value;
}

extern "C" void solve(const int32_t* a, const int32_t* b, int32_t* out, int64_t n, int64_t m) {
    if (n) place<<<static_cast<unsigned>((n + 255) / 256), 256>>>(a, b, out, n, m, false);
    if (m) place<<<static_cast<unsigned>((m + 255) / 256), 256>>>(b, a, out, m, n, true);
}
