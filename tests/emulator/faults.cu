// Planted faults, a kernel each, and right kernels that look alike. What is expected of each stands behind "FAULT:" or
// "RIGHT" in the line that is to be named.
#include <cassert>
#include <cstdint>
#include <cstdio>
#include <cuda_pipeline.h>
#include <cuda_runtime.h>

#include "faults.cuh"

__device__ float trace[64];
__constant__ float weights[8];

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
__global__ void right_early_return(float* out, const float* in, int n) {  // RIGHT
    __shared__ float tile[64];
    if (threadIdx.x >= 40) return;
    tile[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
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

__global__ void constant_behind(float* out, const float* in, int n) {
    out[threadIdx.x] = weights[threadIdx.x % 16];  // FAULT: out_of_bounds
}
__global__ void between_shared_arrays(float* out, const float* in, int n) {
    __shared__ float first[64], second[64];
    first[threadIdx.x] = in[threadIdx.x];
    second[threadIdx.x] = 0.0f;
    __syncthreads();
    out[threadIdx.x] = second[threadIdx.x] + first[threadIdx.x + n - 120];  // FAULT: out_of_bounds
}
__global__ void local_behind(float* out, const float* in, int n) {
    float kept[8];
    for (int k = 0; k < 8; k++) kept[(threadIdx.x + k) % 8] = in[k];
    out[threadIdx.x] = kept[threadIdx.x % 16];  // FAULT: out_of_bounds
}
__global__ void local_before(float* out, const float* in, int n) {
    float kept[8];
    for (int k = 0; k < 8; k++) kept[(threadIdx.x + k) % 8] = in[k];
    kept[static_cast<int>(threadIdx.x) - 4] = 1.0f;  // FAULT: out_of_bounds
    out[threadIdx.x] = kept[(threadIdx.x + n) % 8];
}
__global__ void dynamic_without_room(float* out, const float* in, int n) {
    extern __shared__ float room[];
    room[threadIdx.x] = in[threadIdx.x];  // FAULT: out_of_bounds
    __syncthreads();
    out[threadIdx.x] = room[63 - threadIdx.x];
}
__global__ void atomic_behind(float* out, const float* in, int n) {
    atomicAdd(&out[2 * threadIdx.x + 2], in[0]);  // FAULT: out_of_bounds
}
__global__ void index_below_zero(float* out, const float* in, int n) {
    unsigned before = threadIdx.x - 1;
    out[threadIdx.x] = in[before];  // FAULT: out_of_bounds
}
__global__ void in_a_header(float* out, const float* in, int n) {
    out[threadIdx.x] = third_after(in, threadIdx.x + 64);  // FAULT: out_of_bounds
}
__global__ void copies_from_behind(float* out, const float* in, int n) {
    __shared__ float tile[64];
    __pipeline_memcpy_async(&tile[threadIdx.x], &in[threadIdx.x + 80], 4);  // FAULT: out_of_bounds
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    out[threadIdx.x] = tile[63 - threadIdx.x];
}
__global__ void misaligned_atomic(float* out, const float* in, int n) {
    atomicAdd(reinterpret_cast<unsigned*>(reinterpret_cast<char*>(out) + 2), 1u);  // FAULT: misaligned
}
__global__ void misaligned_atomic_vector(float* out, const float* in, int n) {
    atomicAdd(reinterpret_cast<float4*>(out + 4 * (threadIdx.x % 8) + 2), make_float4(1.0f, 2.0f, 3.0f, 4.0f));  // FAULT: misaligned
}
__global__ void adds_garbage(float* out, const float* in, int n) {
    __shared__ float sums[64];
    if (threadIdx.x < 63) sums[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    atomicAdd(out, sums[threadIdx.x]);  // FAULT: unwritten
}
__global__ void right_atomic_vectors(float* out, const float* in, int n) {  // RIGHT
    atomicAdd(reinterpret_cast<float4*>(out + 4 * (threadIdx.x % 8)), make_float4(in[0], in[1], in[2], in[3]));
    atomicAdd(reinterpret_cast<float2*>(out + 2 * (threadIdx.x % 8)), make_float2(in[4], in[5]));
}
__global__ void misaligned_double(float* out, const float* in, int n) {
    out[threadIdx.x] = static_cast<float>(*reinterpret_cast<const double*>(in + 1 + threadIdx.x));  // FAULT: misaligned
}
__global__ void write_after_read(float* out, const float* in, int n) {
    __shared__ float tile[64];
    tile[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    float value = tile[63 - threadIdx.x];
    tile[threadIdx.x] = value * 2.0f;  // FAULT: shared_race
    __syncthreads();
    out[threadIdx.x] = tile[threadIdx.x];
}
__global__ void two_writers(float* out, const float* in, int n) {
    __shared__ float total;
    if (threadIdx.x % 32 == 0) total = in[threadIdx.x];  // FAULT: shared_race
    __syncthreads();
    out[threadIdx.x] = total;
}
__global__ void warp_writes_after_reads(float* out, const float* in, int n) {
    __shared__ float tile[32];
    if (threadIdx.x >= 32) return;
    tile[threadIdx.x] = in[threadIdx.x];
    __syncwarp();
    float value = tile[(threadIdx.x + 1) % 32];
    tile[threadIdx.x] = value;  // FAULT: warp_race
    __syncwarp();
    out[threadIdx.x] = tile[threadIdx.x];
}
__global__ void global_write_after_read(float* out, const float* in, int n) {
    float value = out[blockIdx.x * 64 + (threadIdx.x + 32) % 64];
    out[blockIdx.x * 64 + threadIdx.x] = value + 1.0f;  // FAULT: global_race
}
__global__ void atomic_and_plain_of_blocks(float* out, const float* in, int n) {
    // On one line, as either may come second.
    if (threadIdx.x == 0 && blockIdx.x == 1) out[0] = in[0]; else if (threadIdx.x == 1 && blockIdx.x == 0) atomicAdd(&out[0], 1.0f);  // FAULT: global_race
}
__global__ void flag_without_fence(float* out, const float* in, int n) {
    volatile float* flag = &trace[63];
    if (threadIdx.x != 0) return;
    if (blockIdx.x == 0) {
        trace[0] = in[0] + 2.0f;
        *flag = 1.0f;
    } else {
        while (*flag == 0.0f) {}
        out[0] = trace[0];  // FAULT: global_race
    }
}
__global__ void barrier_in_one_branch(float* out, const float* in, int n) {
    __shared__ float tile[64];
    tile[threadIdx.x] = in[threadIdx.x];
    if (threadIdx.x < 48) __syncthreads();  // FAULT: barrier_exited
    out[threadIdx.x] = tile[threadIdx.x];
}
__global__ void barriers_by_trip_count(float* out, const float* in, int n) {
    float sum = 0.0f;
    for (int k = 0; k < 1 + static_cast<int>(threadIdx.x / 32); k++) {
        sum += in[k];
        __syncthreads();  // FAULT: barrier_exited
    }
    out[threadIdx.x] = sum;
}
__global__ void copies_that_wait_for_too_few(float* out, const float* in, int n) {
    __shared__ float tiles[2][64];
    for (int stage = 0; stage < 2; stage++) {
        __pipeline_memcpy_async(&tiles[stage][threadIdx.x], &in[stage * 64 + threadIdx.x], 4);
        __pipeline_commit();
    }
    __pipeline_wait_prior(1);
    __syncthreads();
    out[threadIdx.x] = tiles[1][63 - threadIdx.x];  // FAULT: unwritten
    __pipeline_wait_prior(0);
}
__global__ void copies_without_barrier(float* out, const float* in, int n) {
    __shared__ float tile[64];
    __pipeline_memcpy_async(&tile[threadIdx.x], &in[threadIdx.x], 4);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    out[threadIdx.x] = tile[63 - threadIdx.x];  // FAULT: shared_race
}
__global__ void index_of_garbage(float* out, const float* in, int n) {
    __shared__ int where[64];
    if (threadIdx.x < 32) where[threadIdx.x] = 63 - threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = in[where[threadIdx.x] & 63];  // FAULT: unwritten
}
__global__ void shuffle_from_outside(float* out, const float* in, int n) {
    float value = in[threadIdx.x];
    if (threadIdx.x < 16)
        out[threadIdx.x] = __shfl_down_sync(0x0000ffffu, value, 8);  // FAULT: shuffled
}
__global__ void shuffle_without_own_bit(float* out, const float* in, int n) {
    out[threadIdx.x] = __shfl_sync(0x0000ffffu, in[threadIdx.x], 0);  // FAULT: bad_mask
}
__global__ void vote_of_absent_threads(float* out, const float* in, int n) {
    if (threadIdx.x < 16) out[threadIdx.x] = __any_sync(0xffffffffu, in[threadIdx.x] > 0.0f);  // FAULT: bad_mask
    __syncthreads();
    out[64 + threadIdx.x] = 0.0f;
}
__global__ void spins_for_ever(float* out, const float* in, int n) {
    volatile float* flag = &trace[62];
    while (*flag == 0.0f) {}  // FAULT: deadlock
    out[threadIdx.x] = 1.0f;
}
__global__ void lock_that_is_not_released(float* out, const float* in, int n) {
    auto* lock = reinterpret_cast<int*>(&trace[61]);
    if (threadIdx.x == 0) {
        while (atomicCAS(lock, 0, 1) != 0) {}  // FAULT: deadlock
        out[0] += 1.0f;
        __threadfence();
    }
}

__global__ void loop_that_forgets_to_step(float* out, const float* in, int n) {
    int i = 0;
    while (i < n) out[threadIdx.x] = in[i];  // FAULT: endless
}
__global__ void truncated_index(float* out, const float* in, int n) {
    unsigned char i = static_cast<unsigned char>(threadIdx.x * 16);
    if (blockIdx.x == 0 && threadIdx.x < 32) out[i / 4] = static_cast<float>(threadIdx.x + blockIdx.x);  // FAULT: warp_race
}
__global__ void vectors_that_differ(float* out, const float* in, int n) {
    if (blockIdx.x == 0 && threadIdx.x < 2) reinterpret_cast<float4*>(out)[0] = make_float4(0.0f, 0.0f, 0.0f, threadIdx.x % 2);  // FAULT: warp_race
}
__global__ void right_equal_vectors(float* out, const float* in, int n) {  // RIGHT
    reinterpret_cast<float4*>(out)[0] = make_float4(1.0f, 2.0f, 3.0f, 4.0f);
    reinterpret_cast<double2*>(out)[4] = make_double2(1.0, 2.0);
    reinterpret_cast<double*>(out)[12] = 5.0;
    reinterpret_cast<short*>(out)[60] = 6;
    reinterpret_cast<char*>(out)[160] = 7;
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

__global__ void right_flag(float* out, const float* in, int n) {  // RIGHT
    volatile float* flag = &trace[63];
    if (threadIdx.x != 0) return;
    if (blockIdx.x == 0) {
        trace[0] = in[0] + 2.0f;
        __threadfence();
        *flag = 1.0f;
    } else {
        while (*flag == 0.0f) {}
        __threadfence();
        out[0] = trace[0];
    }
}
__global__ void right_half_reduction(float* out, const float* in, int n) {  // RIGHT
    float value = in[threadIdx.x];
    if (threadIdx.x % 32 >= 16) return;
    for (int step = 8; step > 0; step /= 2) value += __shfl_down_sync(0x0000ffffu, value, step);
    if (threadIdx.x % 32 == 0) out[threadIdx.x] = value;
}
__global__ void right_masks_by_branch(float* out, const float* in, int n) {  // RIGHT
    float value = in[threadIdx.x];
    if (threadIdx.x % 32 < 20) value = __shfl_xor_sync(0x000fffffu, value, 1);
    else value = __shfl_xor_sync(0xfff00000u, value, 1);
    out[blockIdx.x * 64 + threadIdx.x] = value;
}
__global__ void right_pointers(float* out, const float* in, int n) {  // RIGHT
    __shared__ float first[64], second[64];
    float *now = first, *next = second;
    now[threadIdx.x] = in[threadIdx.x];
    for (int k = 1; k < 64; k *= 2) {
        __syncthreads();
        next[threadIdx.x] = now[threadIdx.x] + (threadIdx.x >= k ? now[threadIdx.x - k] : 0.0f);
        float* swap = now;
        now = next;
        next = swap;
    }
    out[blockIdx.x * 64 + threadIdx.x] = now[threadIdx.x];
}
__global__ void right_lock(float* out, const float* in, int n) {  // RIGHT
    auto* lock = reinterpret_cast<int*>(&trace[60]);
    if (threadIdx.x == 0) {
        while (atomicCAS(lock, 0, 1) != 0) {}
        __threadfence();
        out[0] += 1.0f;
        __threadfence();
        atomicExch(lock, 0);
    }
}
__global__ void right_variables(float* out, const float* in, int n) {  // RIGHT
    out[blockIdx.x * 64 + threadIdx.x] = trace[threadIdx.x] + weights[threadIdx.x % 8];
}
__global__ void right_pipeline(float* out, const float* in, int n) {  // RIGHT
    __shared__ float tiles[2][64];
    float sum = 0.0f;
    __pipeline_memcpy_async(&tiles[0][threadIdx.x], &in[threadIdx.x], 4);
    __pipeline_commit();
    for (int k = 0; k < 4; k++) {
        if (k < 3) __pipeline_memcpy_async(&tiles[(k + 1) % 2][threadIdx.x], &in[(k + 1) * 16 + threadIdx.x], 4);
        __pipeline_commit();
        __pipeline_wait_prior(1);
        __syncthreads();
        sum += tiles[k % 2][63 - threadIdx.x];
        __syncthreads();
    }
    out[blockIdx.x * 64 + threadIdx.x] = sum;
}
__global__ void right_many_prints(float* out, const float* in, int n) {  // RIGHT
    for (int k = 0; k < 200; k++) printf("thread %d of block %d in round %d, and some more words to fill the buffer\n", threadIdx.x, blockIdx.x, k);
    out[blockIdx.x * 64 + threadIdx.x] = 1.0f;
}

__device__ __noinline__ void put(float* to, float value) { *to = value; }
__global__ void right_put_before_a_return(float* out, const float* in, int n) {  // RIGHT
    __shared__ float tile[64];
    float* mine = &out[blockIdx.x * 64 + threadIdx.x];
    if (threadIdx.x >= 48) { put(mine, 0.0f); return; }
    tile[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    put(mine, tile[47 - threadIdx.x]);
}
__device__ __noinline__ float sum_of(float* tile, float value) {
    __syncthreads();
    tile[threadIdx.x] = value;
    __syncthreads();
    float sum = 0.0f;
    for (int k = 0; k < 32; k++) sum += tile[k];
    return sum;
}
__global__ void right_sums_around_a_return(float* out, const float* in, int n) {  // RIGHT
    __shared__ float tile[64];
    float sum = sum_of(tile, in[threadIdx.x]);
    if (threadIdx.x >= 40) return;
    out[blockIdx.x * 64 + threadIdx.x] = sum + sum_of(tile, 2.0f * in[threadIdx.x]);
}
__device__ __noinline__ float first_of(float* tile, float value) {
    __syncthreads();
    tile[threadIdx.x] = value;
    __syncthreads();
    return tile[0];
}
__device__ float (*const sums[])(float*, float) = {sum_of, first_of};
__global__ void right_sums_by_pointer(float* out, const float* in, int n) {  // RIGHT
    __shared__ float tile[64];
    float sum = sums[n & 1](tile, in[threadIdx.x]);
    if (threadIdx.x >= 40) return;
    out[blockIdx.x * 64 + threadIdx.x] = sum + sums[n >> 1 & 1](tile, 2.0f * in[threadIdx.x]);
}
__global__ void right_returns_in_a_loop(float* out, const float* in, int n) {  // RIGHT
    __shared__ float tile[64];
    for (int k = 0;; k++) {
        if (k > static_cast<int>(threadIdx.x) / 8) return;
        tile[threadIdx.x] = in[k];
        __syncthreads();
        out[blockIdx.x * 64 + threadIdx.x] = tile[threadIdx.x];
    }
}
__global__ void right_answers_after_long_work(float* out, const float* in, int n) {  // RIGHT
    volatile float* flag = &trace[62];
    if (threadIdx.x >= 32) return;
    if (blockIdx.x == 1) {
        float sum = 0.0f;
        for (int k = 0; k < 200000; k++) sum += in[(k * 37 + threadIdx.x * 57) % n];
        if (threadIdx.x == 0) {
            out[2] = sum;
            __threadfence();
            *flag = 1.0f;
            while (*flag != 2.0f) {}
        }
    } else if (threadIdx.x == 0) {
        while (*flag != 1.0f) {}
        float value = in[1];
        for (int k = 0; k < 10000000; k++) value = value * 0.999f + 0.1f;
        trace[61] = value;
        __threadfence();
        *flag = 2.0f;
    }
}

using Kernel = void (*)(float*, const float*, int);
__global__ void copies_new_memory(float* out, const float* in, int n) {
    __shared__ float tile[64];
    float* fresh = static_cast<float*>(malloc(sizeof(float)));
    __pipeline_memcpy_async(&tile[threadIdx.x], fresh, 4);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    out[threadIdx.x] = tile[threadIdx.x];  // FAULT: unwritten
    free(fresh);
}
// Products of a 16 x 16 tile, whose last row nobody wrote, with ones.
__device__ __forceinline__ void multiply_tile(float (&sums)[4]) {
    __shared__ __align__(16) unsigned short tile[16][16];
    if (threadIdx.x < 16)
        for (int row = 0; row < 15; row++) tile[row][threadIdx.x] = 0x3c00;
    __syncwarp();
    const unsigned lane = threadIdx.x % 32, ones = 0x3c003c00;
    const unsigned at = static_cast<unsigned>(__cvta_generic_to_shared(&tile[lane % 16][lane / 16 * 8]));
    unsigned a[4];
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(a[0]), "=r"(a[1]), "=r"(a[2]), "=r"(a[3]) : "r"(at) : "memory");
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %8}, "
                 "{%0, %1, %2, %3};"
                 : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(ones));
}
__global__ void multiplies_garbage(float* out, const float* in, int n) {
    if (threadIdx.x >= 32) return;
    float sums[4] = {};
    multiply_tile(sums);
    out[threadIdx.x] = sums[2];  // FAULT: unwritten
}
__global__ void right_rows_beside_garbage(float* out, const float* in, int n) {  // RIGHT
    if (threadIdx.x >= 32) return;
    float sums[4] = {};
    multiply_tile(sums);
    out[threadIdx.x] = threadIdx.x < 28 ? sums[0] + sums[2] : sums[0];
}
static const Kernel kernels[] = {
    off_by_one, reads_behind, reads_before, misaligned, shared_too_small, null_pointer, no_barrier, no_second_barrier,
    no_syncwarp, all_add, blocks_add, nobody_wrote, half_of_them_wait, right_early_return, fails, read_before_wait,
    in_a_function, shared_across_arrays, negative_shared, quads_behind, row_and_column_swapped, misaligned_shared, misaligned_store,
    tree_without_barrier, first_thread_too_early, halves_race, atomic_and_plain, neighbours_block,
    histogram_without_atomics, half_a_row_is_set, decides_by_garbage, local_garbage, traps, without_end, wait_for_nobody,
    behind_its_own, after_delete, deletes_twice, reads_new_memory, right_lists,
    constant_behind, between_shared_arrays, local_behind, local_before, dynamic_without_room, atomic_behind,
    index_below_zero, in_a_header, copies_from_behind, misaligned_atomic, misaligned_double,
    misaligned_atomic_vector, adds_garbage, right_atomic_vectors,
    write_after_read, two_writers, warp_writes_after_reads, global_write_after_read, atomic_and_plain_of_blocks,
    flag_without_fence, barrier_in_one_branch, barriers_by_trip_count, copies_that_wait_for_too_few,
    copies_without_barrier, index_of_garbage, shuffle_from_outside, shuffle_without_own_bit, vote_of_absent_threads,
    spins_for_ever, lock_that_is_not_released, loop_that_forgets_to_step, truncated_index, vectors_that_differ,
    right_equal_vectors, copies_new_memory, multiplies_garbage, right_rows_beside_garbage,
    right_halo, right_last_block, right_same_flag, right_bytes, right_padding,
    right_flag, right_half_reduction, right_masks_by_branch, right_pointers, right_lock, right_variables,
    right_pipeline, right_many_prints, right_put_before_a_return, right_sums_around_a_return, right_sums_by_pointer,
    right_returns_in_a_loop, right_answers_after_long_work,
};
// which, out, in, n: one launch of two blocks of 64 threads.
extern "C" int grader_entry(void** a) {
    kernels[*static_cast<int*>(a[0])]<<<2, 64>>>(*static_cast<float**>(a[1]), *static_cast<float**>(a[2]), *static_cast<int*>(a[3]));
    return cudaDeviceSynchronize();
}
