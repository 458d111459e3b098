// CUDA's C++ libraries: CUB within a block and over the device, cuda::std, cuda::atomic.
#include "conformance.cuh"
#include <cub/cub.cuh>
#include <cuda/atomic>
#include <cuda/std/array>
#include <cuda/std/complex>

using conformance::mixed;
KERNEL(cub_block_reduce, uint32_t, "bits", 4, 128, 4) {
    using Reduce = cub::BlockReduce<uint32_t, 128>;
    __shared__ typename Reduce::TempStorage room;
    uint32_t sum = Reduce(room).Sum(mixed(blockIdx.x * 128 + threadIdx.x) % 1000);
    if (threadIdx.x == 0) out[blockIdx.x] = sum;
}
KERNEL(cub_block_scan, uint32_t, "bits", 1, 128, 256) {
    using Scan = cub::BlockScan<uint32_t, 128>;
    __shared__ typename Scan::TempStorage room;
    uint32_t items[2] = {mixed(threadIdx.x) % 10, mixed(threadIdx.x + 500) % 10};
    Scan(room).InclusiveSum(items, items);
    out[2 * threadIdx.x] = items[0];
    out[2 * threadIdx.x + 1] = items[1];
}
KERNEL(cub_block_sort, uint32_t, "bits", 1, 128, 512) {
    using Sort = cub::BlockRadixSort<uint32_t, 128, 4>;
    __shared__ typename Sort::TempStorage room;
    uint32_t keys[4];
    for (int k = 0; k < 4; k++) keys[k] = mixed(threadIdx.x * 4 + k);
    Sort(room).Sort(keys);
    for (int k = 0; k < 4; k++) out[threadIdx.x * 4 + k] = keys[k];
}
KERNEL(cub_warp_scan, uint32_t, "bits", 1, 64, 64) {
    using Scan = cub::WarpScan<uint32_t>;
    __shared__ typename Scan::TempStorage room[2];
    uint32_t value = mixed(threadIdx.x) % 100, sum;
    Scan(room[threadIdx.x / 32]).ExclusiveSum(value, sum);
    out[threadIdx.x] = sum;
}
static __global__ void numbers(uint32_t* to, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) to[i] = mixed(i); }
static void over_device(uint32_t* out, int which) {
    uint32_t* in;
    void* room = nullptr;
    size_t bytes = 0;
    cudaMalloc(&in, 4 * 5000);
    numbers<<<40, 128>>>(in, 5000);
    for (int pass = 0; pass < 2; pass++) {
        if (which == 0) cub::DeviceReduce::Sum(room, bytes, in, out, 5000);
        if (which == 1) cub::DeviceScan::ExclusiveSum(room, bytes, in, out, 5000);
        if (which == 2) cub::DeviceRadixSort::SortKeys(room, bytes, in, out, 5000);
        if (pass == 0) cudaMalloc(&room, bytes);
    }
    cudaFree(room);
    cudaFree(in);
}
LAUNCHED(cub_device_reduce, uint32_t, "bits", 1, over_device(out, 0))
LAUNCHED(cub_device_scan, uint32_t, "bits", 5000, over_device(out, 1))
LAUNCHED(cub_device_sort, uint32_t, "bits", 5000, over_device(out, 2))
KERNEL(cuda_atomic, int32_t, "bits", 4, 64, 2) {
    cuda::atomic_ref<int32_t, cuda::thread_scope_device> count(out[0]);
    count.fetch_add(static_cast<int32_t>(threadIdx.x), cuda::memory_order_relaxed);
    cuda::atomic_ref<int32_t, cuda::thread_scope_system> most(out[1]);
    most.fetch_max(static_cast<int32_t>(mixed(threadIdx.x) % 1000));
}
KERNEL(cuda_std, float, "bits", 1, 32, 64) {
    cuda::std::array<float, 4> values{1, 2, 3, static_cast<float>(threadIdx.x)};
    cuda::std::complex<float> a(values[threadIdx.x % 4], 0.5f), b(values[3], -2);
    auto c = a * b + a;
    out[threadIdx.x] = c.real();
    out[32 + threadIdx.x] = c.imag();
}
