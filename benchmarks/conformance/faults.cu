// What ends a context: the error is the result. Each runs in a process of its own.
#include "conformance.cuh"
#include <cassert>

#define FAULT(name) KERNEL(name, int32_t, "bits", 1, 32, 32)
FAULT(fault_assert) { assert(threadIdx.x < 20); out[threadIdx.x] = 1; }
FAULT(fault_trap) { if (threadIdx.x == 3) __trap(); out[threadIdx.x] = 1; }
FAULT(fault_null) { out[threadIdx.x] = *reinterpret_cast<volatile int32_t*>(8); }
FAULT(fault_wild) { reinterpret_cast<volatile int32_t*>(0x123456789000ull)[threadIdx.x] = 1; }
FAULT(fault_misaligned) { out[threadIdx.x] = *reinterpret_cast<volatile int32_t*>(reinterpret_cast<char*>(out) + 1); }
FAULT(fault_misaligned_vector) { reinterpret_cast<volatile int4*>(out + 1)->x = 0; *reinterpret_cast<int4*>(out + 1) = make_int4(1, 2, 3, 4); }
FAULT(fault_shared) { extern __shared__ int room[]; reinterpret_cast<volatile int*>(room)[1 << 20] = 1; out[threadIdx.x] = 1; }
FAULT(prints) { if (threadIdx.x == 0) printf("%d %5.2f %s %llx %c %%\n", -3, 2.5, "text", 0x123456789abcull, 'x'); out[threadIdx.x] = 1; }
