// Planted faults, a kernel each, and right kernels that look alike. What is expected of each stands behind "FAULT:" or
// "RIGHT" in the line that is to be named.
#include <cassert>
#include <cstdint>
#include <cuda_pipeline.h>
#include <cuda_runtime.h>

__device__ float trace[64];

__global__ void off_by_one(float* out, const float* in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i + 1] = 1.0f;  // FAULT: out_of_bounds
}
__global__ void reads_behind(float* out, const float* in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i + 1];  // FAULT: out_of_bounds
}
__global__ void reads_before(float* out, const float* in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i - 1];  // FAULT: out_of_bounds
}
__global__ void misaligned(float* out, const float* in, int n) {
    float2 pair = *reinterpret_cast<const float2*>(in + 1 + 2 * threadIdx.x);  // FAULT: misaligned
    out[threadIdx.x] = pair.x + pair.y;
}
__global__ void shared_too_small(float* out, const float* in, int n) {
    __shared__ float tile[32];
    tile[threadIdx.x] = in[threadIdx.x];  // FAULT: out_of_bounds
    __syncthreads();
    out[threadIdx.x] = tile[threadIdx.x ^ 1];
}
__global__ void null_pointer(float* out, const float* in, int n) {
    float* nothing = reinterpret_cast<float*>(static_cast<uintptr_t>(n & 4));
    nothing[threadIdx.x] = 1.0f;  // FAULT: out_of_bounds
}
__global__ void no_barrier(float* out, const float* in, int n) {
    __shared__ float tile[64];
    tile[threadIdx.x] = in[threadIdx.x];
    out[threadIdx.x] = tile[63 - threadIdx.x];  // FAULT: shared_race
}
__global__ void no_second_barrier(float* out, const float* in, int n) {
    __shared__ float tile[64];
    float sum = 0.0f;
    for (int k = 0; k < 4; k++) {
        tile[threadIdx.x] = in[(threadIdx.x + k) % 64];  // FAULT: shared_race
        __syncthreads();
        sum += tile[(threadIdx.x + 32) % 64];
    }
    out[threadIdx.x] = sum;
}
__global__ void no_syncwarp(float* out, const float* in, int n) {
    __shared__ float tile[32];
    if (threadIdx.x < 32) {
        tile[threadIdx.x] = in[threadIdx.x];
        out[threadIdx.x] = tile[31 - threadIdx.x];  // FAULT: warp_race
    }
}
__global__ void all_add(float* out, const float* in, int n) {
    out[0] = out[0] + in[threadIdx.x];  // FAULT: warp_race
}
__global__ void blocks_add(float* out, const float* in, int n) {
    if (threadIdx.x == 0) out[0] += in[blockIdx.x];  // FAULT: global_race
}
__global__ void nobody_wrote(float* out, const float* in, int n) {
    __shared__ float tile[64];
    if (threadIdx.x < 32) tile[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    float value = tile[threadIdx.x];
    if (value > 0.0f) value *= 2.0f;
    out[threadIdx.x] = value;  // FAULT: unwritten
}
__global__ void half_of_them_wait(float* out, const float* in, int n) {
    __shared__ float tile[64];
    tile[threadIdx.x] = in[threadIdx.x];
    if (threadIdx.x < 32) {
        __syncthreads();
        out[threadIdx.x] = tile[threadIdx.x];
    } else {
        __syncthreads();  // FAULT: barrier_places
        out[threadIdx.x] = -tile[threadIdx.x];
    }
}
__global__ void returns_early(float* out, const float* in, int n) {
    __shared__ float tile[64];
    if (threadIdx.x >= 40) return;
    tile[threadIdx.x] = in[threadIdx.x];
    __syncthreads();  // FAULT: barrier_exited
    out[threadIdx.x] = tile[39 - threadIdx.x];
}
__global__ void fails(float* out, const float* in, int n) {
    assert(n < 0);  // FAULT: asserted
    out[threadIdx.x] = 0.0f;
}
__global__ void read_before_wait(float* out, const float* in, int n) {
    __shared__ float tile[64];
    __pipeline_memcpy_async(&tile[threadIdx.x], &in[threadIdx.x], 4);
    __pipeline_commit();
    out[threadIdx.x] = tile[threadIdx.x];  // FAULT: unwritten
    __pipeline_wait_prior(0);
}
__device__ __noinline__ float fetch(const float* in, int i) {
    return in[i];  // FAULT: out_of_bounds
}
__global__ void in_a_function(float* out, const float* in, int n) { out[threadIdx.x] = fetch(in, threadIdx.x + n - 10); }

__global__ void shared_across_arrays(float* out, const float* in, int n) {
    __shared__ float left[64], right[64];
    left[threadIdx.x] = in[threadIdx.x];
    right[threadIdx.x] = 0.0f;
    __syncthreads();
    out[threadIdx.x] = left[threadIdx.x] + right[threadIdx.x + 64];  // FAULT: out_of_bounds
}
__global__ void negative_shared(float* out, const float* in, int n) {
    __shared__ float tile[64];
    tile[threadIdx.x - 1] = in[threadIdx.x];  // FAULT: out_of_bounds
    __syncthreads();
    out[threadIdx.x] = tile[threadIdx.x];
}
__global__ void quads_behind(float* out, const float* in, int n) {
    int i = blockIdx.x * 64 + threadIdx.x;
    out[i] = in[i] * 2.0f;
    float4 four = reinterpret_cast<const float4*>(in)[i];  // FAULT: out_of_bounds
    out[i] += four.w;
}
__global__ void row_and_column_swapped(float* out, const float* in, int n) {
    int row = threadIdx.x % 4, column = blockIdx.x * 64 + threadIdx.x;
    out[column * 4 + row] = in[column];  // FAULT: out_of_bounds
}
__global__ void misaligned_shared(float* out, const float* in, int n) {
    __shared__ char bytes[512];
    bytes[threadIdx.x] = static_cast<char>(threadIdx.x);
    __syncthreads();
    out[threadIdx.x] = *reinterpret_cast<float*>(bytes + threadIdx.x + 1);  // FAULT: misaligned
}
__global__ void misaligned_store(float* out, const float* in, int n) {
    reinterpret_cast<double*>(out + 1)[threadIdx.x] = in[threadIdx.x];  // FAULT: misaligned
}
__global__ void tree_without_barrier(float* out, const float* in, int n) {
    __shared__ float sum[64];
    sum[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    for (int half = 32; half > 0; half /= 2)
        if (threadIdx.x < half) sum[threadIdx.x] += sum[threadIdx.x + half];  // FAULT: warp_race
    if (threadIdx.x == 0) out[blockIdx.x] = sum[0];
}
__global__ void first_thread_too_early(float* out, const float* in, int n) {
    __shared__ float most;
    if (threadIdx.x == 0) most = in[0];
    if (threadIdx.x == 63) most = in[63] + 2.0f;  // FAULT: shared_race
    __syncthreads();
    out[threadIdx.x] = most;
}
__global__ void halves_race(float* out, const float* in, int n) {
    __shared__ short pairs[64];
    pairs[threadIdx.x] = static_cast<short>(threadIdx.x);
    out[threadIdx.x] = pairs[63 - threadIdx.x];  // FAULT: shared_race
}
__global__ void atomic_and_plain(float* out, const float* in, int n) {
    __shared__ int count;
    if (threadIdx.x == 0) count = 0;
    __syncthreads();
    if (threadIdx.x >= 32) atomicAdd(&count, 1);
    if (threadIdx.x == 5) out[0] = count;  // FAULT: shared_race
}
__global__ void neighbours_block(float* out, const float* in, int n) {
    int i = blockIdx.x * 64 + threadIdx.x;
    out[i] = in[i];
    __syncthreads();
    if (i > 0) out[i] = out[i - 1] + 1.0f;  // FAULT: global_race
}
__global__ void histogram_without_atomics(float* out, const float* in, int n) {
    int bin = threadIdx.x % 4;
    out[bin] += in[threadIdx.x];  // FAULT: warp_race
}
__global__ void half_a_row_is_set(float* out, const float* in, int n) {
    __shared__ float row[128];
    row[threadIdx.x * 2] = in[threadIdx.x];
    __syncthreads();
    float sum = 0.0f;
    for (int k = 0; k < 128; k++) sum += row[k];
    out[threadIdx.x] = sum;  // FAULT: unwritten
}
__global__ void decides_by_garbage(float* out, const float* in, int n) {
    __shared__ int limit;
    __shared__ float other;
    if (threadIdx.x == 1000) limit = n;
    other = in[0];
    __syncthreads();
    if (limit > 7)  // FAULT: unwritten
        out[blockIdx.x * 64 + threadIdx.x] = in[threadIdx.x] + other;
    else
        out[blockIdx.x * 64 + threadIdx.x] = in[threadIdx.x] - other;
}
__global__ void local_garbage(float* out, const float* in, int n) {
    float kept[8];
    for (int k = 0; k < 4; k++) kept[(threadIdx.x + k) % 8] = in[k];
    out[threadIdx.x] = kept[(threadIdx.x + n + 5) % 8];  // FAULT: unwritten
}
__global__ void traps(float* out, const float* in, int n) {
    if (threadIdx.x == 5) __trap();  // FAULT: trapped
    out[threadIdx.x] = 1.0f;
}
__device__ __noinline__ float deeper(const float* in, int n) {
    return n == -1 ? in[0] : in[n & 63] + deeper(in, n + 1) * in[1];  // FAULT: stack_overflow
}
__global__ void without_end(float* out, const float* in, int n) { out[threadIdx.x] = deeper(in, n); }
__global__ void wait_for_nobody(float* out, const float* in, int n) {
    if (threadIdx.x < 32) asm volatile("bar.sync 1, 64;");  // FAULT: deadlock
    else asm volatile("bar.sync 2, 64;");
    out[threadIdx.x] = 1.0f;
}
__global__ void behind_its_own(float* out, const float* in, int n) {
    float* mine = new float[3];
    mine[0] = in[threadIdx.x];
    out[threadIdx.x] = mine[0];
    mine[threadIdx.x % 4] = 1.0f;  // FAULT: out_of_bounds
    delete[] mine;
}
__global__ void after_delete(float* out, const float* in, int n) {
    float* mine = new float(in[threadIdx.x]);
    delete mine;
    out[threadIdx.x] = *const_cast<volatile float*>(mine);  // FAULT: use_after_free
}
__global__ void deletes_twice(float* out, const float* in, int n) {
    float* mine = static_cast<float*>(malloc(64));
    free(mine);
    free(mine);  // FAULT: bad_free
}
__global__ void reads_new_memory(float* out, const float* in, int n) {
    float* mine = static_cast<float*>(malloc(8));
    mine[0] = in[threadIdx.x];
    out[threadIdx.x] = mine[0] + const_cast<volatile float*>(mine)[1];  // FAULT: unwritten
    free(mine);
}

__global__ void right_halo(float* out, const float* in, int n) {  // RIGHT
    __shared__ float tile[66];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    tile[threadIdx.x + 1] = in[i];
    if (threadIdx.x == 0) tile[0] = i > 0 ? in[i - 1] : 0.0f;
    if (threadIdx.x == 63) tile[65] = i + 1 < n ? in[i + 1] : 0.0f;
    __syncthreads();
    out[i] = tile[threadIdx.x] + tile[threadIdx.x + 1] + tile[threadIdx.x + 2];
}
__global__ void right_last_block(float* out, const float* in, int n) {  // RIGHT
    __shared__ bool last;
    if (threadIdx.x == 0) {
        trace[blockIdx.x] = in[blockIdx.x];
        __threadfence();
        last = atomicAdd(reinterpret_cast<unsigned*>(&trace[63]), 1u) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x < gridDim.x) out[threadIdx.x] = trace[threadIdx.x];
}
__global__ void right_same_flag(float* out, const float* in, int n) {  // RIGHT
    if (in[threadIdx.x] < 1e30f) out[0] = 1.0f;
}
__global__ void right_lists(float* out, const float* in, int n) {  // RIGHT
    struct Node { float value; Node* next; };
    float sum = 0.0f;
    for (int round = 0; round < 300; round++) {
        Node* head = nullptr;
        for (int i = 0; i < 3; i++) head = new Node{in[threadIdx.x] + i, head};
        for (Node* at = head; at; at = head) { sum += at->value; head = at->next; delete at; }
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
__global__ void right_bytes(float* out, const float* in, int n) {  // RIGHT
    auto* bytes = reinterpret_cast<unsigned char*>(out);
    bytes[threadIdx.x + blockIdx.x * blockDim.x] = 7;
}
__global__ void right_padding(float* out, const float* in, int n) {  // RIGHT
    __shared__ float4 tile[16];
    if (threadIdx.x < 16) tile[threadIdx.x].x = in[threadIdx.x];
    __syncthreads();
    float4 all = tile[threadIdx.x / 4];
    out[threadIdx.x] = all.x;
}

using Kernel = void (*)(float*, const float*, int);
static const Kernel kernels[] = {
    off_by_one, reads_behind, reads_before, misaligned, shared_too_small, null_pointer, no_barrier, no_second_barrier,
    no_syncwarp, all_add, blocks_add, nobody_wrote, half_of_them_wait, returns_early, fails, read_before_wait,
    in_a_function, shared_across_arrays, negative_shared, quads_behind, row_and_column_swapped, misaligned_shared, misaligned_store,
    tree_without_barrier, first_thread_too_early, halves_race, atomic_and_plain, neighbours_block,
    histogram_without_atomics, half_a_row_is_set, decides_by_garbage, local_garbage, traps, without_end, wait_for_nobody,
    behind_its_own, after_delete, deletes_twice, reads_new_memory, right_lists,
    right_halo, right_last_block, right_same_flag, right_bytes, right_padding,
};
// which, out, in, n: one launch of two blocks of 64 threads.
extern "C" int grader_entry(void** a) {
    kernels[*static_cast<int*>(a[0])]<<<2, 64>>>(*static_cast<float**>(a[1]), *static_cast<float**>(a[2]), *static_cast<int*>(a[3]));
    return cudaDeviceSynchronize();
}
