// CUDA for the editor, one entry per line: "declaration = meaning"; the name is the last word before the parameters.
// Checked by test/cuda.test.js.

const VARIABLES = `
const uint3 threadIdx = Index of the thread within its block; threadIdx.x runs fastest, so threads of a warp are neighbours in x.
const uint3 blockIdx = Index of the block within the grid.
const dim3 blockDim = Threads of a block in each dimension.
const dim3 gridDim = Blocks of the grid in each dimension.
const int warpSize = Threads of a warp: 32.
`;

const SPECIFIERS = `
__global__ = A kernel: runs on the GPU, is launched with <<<blocks, threads>>>, returns void.
__device__ = A function or variable of the GPU; kernels call it.
__host__ = A function of the CPU; together with __device__ it is compiled for both.
__shared__ = A variable of the block, in shared memory. All its threads see it; it begins with no defined value.
__constant__ = A variable that kernels only read. Fast where all threads of a warp read the same address; at most 64 KB.
__managed__ = A variable that host and device both access.
__restrict__ = Promises that no other pointer reaches this memory, so the compiler may keep its values in registers.
__forceinline__ = Inlines the function wherever it is called.
__noinline__ = Does not inline the function.
__launch_bounds__(maxThreadsPerBlock, minBlocksPerMultiprocessor = 0) = Limits a thread's registers so that blocks of this size fit.
__grid_constant__ = A const parameter of a kernel whose address may be taken without a copy.
__align__(bytes) = Aligns a type or variable to so many bytes.
`;

const TYPES = `
dim3 = Three sizes, x, y and z; those left out are 1.
float2 = Two floats, x and y, of 8 bytes, loaded and stored together; the address must be a multiple of 8.
float3 = Three floats, x, y and z; aligned to 4 bytes.
float4 = Four floats, x to w, of 16 bytes, loaded and stored together; the address must be a multiple of 16.
double2 = Two doubles of 16 bytes; the address must be a multiple of 16.
int2 = Two ints of 8 bytes; the address must be a multiple of 8.
int4 = Four ints of 16 bytes; the address must be a multiple of 16.
uint4 = Four unsigned ints of 16 bytes; the address must be a multiple of 16.
uchar4 = Four bytes, loaded and stored together.
half = A float of 16 bits, from cuda_fp16.h: 11 significant bits, at most 65,504.
half2 = Two halves of 4 bytes; its functions compute both at once.
__nv_bfloat16 = A float of 16 bits, from cuda_bf16.h: float's range, 8 significant bits.
__nv_bfloat162 = Two bfloat16 of 4 bytes.
cudaError_t = What calls of the runtime return: cudaSuccess or the error.
cudaStream_t = A queue of work for the device; work of one stream runs in order. 0 is the default stream.
cudaEvent_t = A mark in a stream, for waiting and for timing.
cudaDeviceProp = The properties of a device, see cudaGetDeviceProperties.
int8_t = A signed integer of 8 bits, from cstdint.
int32_t = A signed integer of 32 bits, from cstdint: up to 2,147,483,647.
int64_t = A signed integer of 64 bits, from cstdint: for indices beyond 2^31.
uint8_t = An unsigned integer of 8 bits, from cstdint.
uint32_t = An unsigned integer of 32 bits, from cstdint.
uint64_t = An unsigned integer of 64 bits, from cstdint.
size_t = An unsigned integer of 64 bits; a difference below 0 wraps around.
`;

const FUNCTIONS = `
void __syncthreads() = Waits until all threads of the block are here; what they wrote to shared and global memory before is visible after. Every thread must reach it.
int __syncthreads_count(int predicate) = Like __syncthreads; returns for how many threads of the block predicate is not 0.
int __syncthreads_and(int predicate) = Like __syncthreads; not 0 if predicate is not 0 for all threads of the block.
int __syncthreads_or(int predicate) = Like __syncthreads; not 0 if predicate is not 0 for any thread of the block.
void __syncwarp(unsigned mask = 0xffffffff) = Waits for the threads of the warp that mask names; their writes to memory before are visible to them after.
void __threadfence() = This thread's writes before it are seen by the device no later than those after it. It waits for no other thread.
void __threadfence_block() = Like __threadfence, for the threads of the block.
void __threadfence_system() = Like __threadfence, for the host and other devices, too.
T __shfl_sync(unsigned mask, T value, int lane, int width = 32) = Each thread gets the value of the thread number lane of its warp. All threads of mask must call it.
T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32) = Each thread gets the value of the thread delta lanes below; the lowest delta lanes keep theirs.
T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32) = Each thread gets the value of the thread delta lanes above; the highest delta lanes keep theirs.
T __shfl_xor_sync(unsigned mask, T value, int laneMask, int width = 32) = Each thread gets the value of the thread whose lane is its own XOR laneMask.
unsigned __ballot_sync(unsigned mask, int predicate) = A bit for each lane of mask: 1 where predicate is not 0.
int __all_sync(unsigned mask, int predicate) = Not 0 if predicate is not 0 for all threads of mask.
int __any_sync(unsigned mask, int predicate) = Not 0 if predicate is not 0 for any thread of mask.
unsigned __activemask() = The lanes that execute this together right now. The hardware decides which do: pass a mask of your own to *_sync.
unsigned __match_any_sync(unsigned mask, T value) = The lanes of mask that have the same value as this thread.
unsigned __match_all_sync(unsigned mask, T value, int* predicate) = mask if all its lanes have the same value, else 0; predicate says which.
unsigned __reduce_add_sync(unsigned mask, unsigned value) = The sum of value over the lanes of mask; 32-bit integers, compute capability 8.0 and later.
unsigned __reduce_max_sync(unsigned mask, unsigned value) = The largest value of the lanes of mask; 32-bit integers, compute capability 8.0 and later.
unsigned __reduce_min_sync(unsigned mask, unsigned value) = The smallest value of the lanes of mask; 32-bit integers, compute capability 8.0 and later.
T atomicAdd(T* address, T value) = Adds value to *address in one step and returns what was there. int, unsigned, unsigned long long, float, double, half2 and others.
T atomicSub(T* address, T value) = Subtracts value from *address in one step and returns what was there. int and unsigned.
T atomicExch(T* address, T value) = Stores value and returns what was there, in one step.
T atomicMin(T* address, T value) = Stores the smaller of *address and value in one step; returns what was there. Integers only.
T atomicMax(T* address, T value) = Stores the larger of *address and value in one step; returns what was there. Integers only.
unsigned atomicInc(unsigned* address, unsigned limit) = Adds 1, or stores 0 if *address is at least limit; returns what was there.
unsigned atomicDec(unsigned* address, unsigned limit) = Subtracts 1, or stores limit if *address is 0 or above limit; returns what was there.
T atomicCAS(T* address, T expected, T value) = Stores value if *address is expected; returns what was there. Any other atomic can be built from it.
T atomicAnd(T* address, T value) = Stores *address & value in one step; returns what was there.
T atomicOr(T* address, T value) = Stores *address | value in one step; returns what was there.
T atomicXor(T* address, T value) = Stores *address ^ value in one step; returns what was there.
T __ldg(const T* address) = Loads through the read-only cache. Nothing may write there while the kernel runs.
T __ldcg(const T* address) = Loads through L2, without L1.
T __ldcs(const T* address) = Loads what is probably read once, so caches drop it first.
void __stcs(T* address, T value) = Stores what is probably not read again soon, so caches drop it first.
void __stcg(T* address, T value) = Stores in L2, without L1.
void __trap() = Ends the kernel with an error.
void __nanosleep(unsigned ns) = Pauses the thread for about ns nanoseconds.
long long clock64() = The multiprocessor's clock, in cycles.
int printf(const char* format, ...) = Prints from a thread. The text appears when the host waits for the device.
void assert(int expression) = Ends the kernel with an error if expression is 0; from cassert.
int __popc(unsigned x) = How many bits of x are 1.
int __popcll(unsigned long long x) = How many bits of x are 1.
int __clz(int x) = How many zeros x has before its highest 1; 32 for 0.
int __clzll(long long x) = How many zeros x has before its highest 1; 64 for 0.
int __ffs(int x) = Position of the lowest 1 of x, counted from 1; 0 for 0.
unsigned __brev(unsigned x) = The bits of x in reverse order.
int __mulhi(int x, int y) = The upper 32 bits of the 64-bit product.
unsigned __umulhi(unsigned x, unsigned y) = The upper 32 bits of the 64-bit product.
int __mul24(int x, int y) = The lower 32 bits of the product of the lower 24 bits. No faster than * on today's devices.
unsigned __byte_perm(unsigned x, unsigned y, unsigned selector) = Four bytes chosen from the eight of x and y, by four bits of selector each.
int __dp4a(int a, int b, int c) = c plus the products of the four pairs of bytes of a and b.
unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) = The upper 32 bits of high:low shifted left by shift modulo 32.
int __float_as_int(float x) = The bits of x as an int.
float __int_as_float(int x) = The float with these bits.
int __float2int_rn(float x) = x rounded to the nearest int, ties to even.
int __float2int_rz(float x) = x rounded towards 0.
float __fdividef(float x, float y) = x / y, faster and less exact; 0 if |y| is above 2^126.
float __expf(float x) = e^x, faster and less exact than expf.
float __exp10f(float x) = 10^x, faster and less exact.
float __logf(float x) = Natural logarithm, faster and less exact than logf, above all near 1.
float __log2f(float x) = Logarithm to base 2, faster and less exact.
float __powf(float x, float y) = x^y, faster and less exact.
float __sinf(float x) = Sine, faster; exact to about 2^-21 between -pi and pi, and worse outside.
float __cosf(float x) = Cosine, faster; exact to about 2^-21 between -pi and pi, and worse outside.
float __tanf(float x) = Tangent, faster and less exact.
float __saturatef(float x) = x limited to 0 to 1; 0 for NaN.
float __fmaf_rn(float x, float y, float z) = x * y + z, rounded once to the nearest.
float __fadd_rn(float x, float y) = x + y, rounded to the nearest, and never merged into a multiply-add.
float __fmul_rn(float x, float y) = x * y, rounded to the nearest, and never merged into a multiply-add.
float __fdiv_rn(float x, float y) = x / y, rounded to the nearest.
float __fsqrt_rn(float x) = Square root, rounded to the nearest.
float fmaf(float x, float y, float z) = x * y + z, rounded once.
float expf(float x) = e^x.
float exp2f(float x) = 2^x.
float expm1f(float x) = e^x - 1, exact near 0.
float logf(float x) = Natural logarithm.
float log2f(float x) = Logarithm to base 2.
float log1pf(float x) = log(1 + x), exact near 0.
float powf(float x, float y) = x^y.
float sqrtf(float x) = Square root.
float rsqrtf(float x) = 1 / square root of x.
float cbrtf(float x) = Cube root.
float hypotf(float x, float y) = Square root of x*x + y*y, without overflow on the way.
float sinf(float x) = Sine of x in radians.
float cosf(float x) = Cosine of x in radians.
void sincosf(float x, float* sine, float* cosine) = Sine and cosine at once.
float tanf(float x) = Tangent of x in radians.
float atan2f(float y, float x) = Angle of the point (x, y), from -pi to pi.
float tanhf(float x) = Hyperbolic tangent.
float erff(float x) = Error function; GELU is 0.5 x (1 + erf(x / sqrt(2))).
float normcdff(float x) = Standard normal distribution function.
float floorf(float x) = The largest whole number not above x.
float ceilf(float x) = The smallest whole number not below x.
float roundf(float x) = The nearest whole number, halves away from 0.
float rintf(float x) = The nearest whole number, halves to even.
float truncf(float x) = x without its fraction.
float fmodf(float x, float y) = The rest of x / y, with the sign of x.
float fabsf(float x) = |x|.
float fmaxf(float x, float y) = The larger; if one is NaN, the other.
float fminf(float x, float y) = The smaller; if one is NaN, the other.
float copysignf(float x, float y) = |x| with the sign of y.
bool isnan(float x) = True for NaN.
bool isinf(float x) = True for infinity of either sign.
T min(T x, T y) = The smaller; for floats like fminf.
T max(T x, T y) = The larger; for floats like fmaxf.
int abs(int x) = |x|; for floats use fabsf.
half __float2half(float x) = x rounded to half.
float __half2float(half x) = x as a float, exactly.
half2 __floats2half2_rn(float x, float y) = x and y rounded to halves.
half2 __half2half2(half x) = x twice.
float __low2float(half2 x) = The first of the two as a float.
float __high2float(half2 x) = The second of the two as a float.
half __hadd(half x, half y) = x + y.
half __hmul(half x, half y) = x * y.
half __hfma(half x, half y, half z) = x * y + z, rounded once.
half2 __hadd2(half2 x, half2 y) = Both sums at once.
half2 __hmul2(half2 x, half2 y) = Both products at once.
half2 __hfma2(half2 x, half2 y, half2 z) = Both x * y + z at once.
half hexp(half x) = e^x.
__nv_bfloat16 __float2bfloat16(float x) = x rounded to bfloat16.
float __bfloat162float(__nv_bfloat16 x) = x as a float, exactly.
float2 make_float2(float x, float y) = A float2 of these.
float3 make_float3(float x, float y, float z) = A float3 of these.
float4 make_float4(float x, float y, float z, float w) = A float4 of these.
int2 make_int2(int x, int y) = An int2 of these.
int4 make_int4(int x, int y, int z, int w) = An int4 of these.
cudaError_t cudaMalloc(void** pointer, size_t bytes) = Allocates device memory, aligned to at least 256 bytes. It may wait for the device: allocate once, not in each call.
cudaError_t cudaMallocAsync(void** pointer, size_t bytes, cudaStream_t stream) = Allocates device memory in the stream's order.
cudaError_t cudaFree(void* pointer) = Frees device memory; waits for the device.
cudaError_t cudaFreeAsync(void* pointer, cudaStream_t stream) = Frees device memory in the stream's order.
cudaError_t cudaMemset(void* pointer, int value, size_t bytes) = Sets each byte to value.
cudaError_t cudaMemsetAsync(void* pointer, int value, size_t bytes, cudaStream_t stream = 0) = Sets each byte to value, in the stream's order.
cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) = Copies; the host waits for copies from and to it.
cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind, cudaStream_t stream = 0) = Copies in the stream's order.
cudaError_t cudaMemcpyToSymbol(const void* symbol, const void* from, size_t bytes) = Copies into a __constant__ or __device__ variable.
cudaError_t cudaGetSymbolAddress(void** pointer, const void* symbol) = The device address of a __device__ variable.
cudaError_t cudaDeviceSynchronize() = The host waits until the device has done everything. solve needs no such wait.
cudaError_t cudaStreamSynchronize(cudaStream_t stream) = The host waits for one stream.
cudaError_t cudaStreamCreate(cudaStream_t* stream) = A new stream.
cudaError_t cudaEventCreate(cudaEvent_t* event) = A new event.
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream = 0) = Marks this place in the stream.
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags = 0) = The stream waits for the event; the host does not.
cudaError_t cudaGetLastError() = The last error of this thread, which it clears; call it after a launch.
cudaError_t cudaPeekAtLastError() = The last error of this thread, which stays.
const char* cudaGetErrorString(cudaError_t error) = The error in words.
const char* cudaGetErrorName(cudaError_t error) = The error's name.
cudaError_t cudaGetDevice(int* device) = The number of the current device.
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) = All properties of a device. Slow: cudaDeviceGetAttribute reads one.
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) = One property, such as cudaDevAttrMultiProcessorCount.
cudaError_t cudaFuncSetAttribute(const void* kernel, cudaFuncAttribute attribute, int value) = For example cudaFuncAttributeMaxDynamicSharedMemorySize, for more than 48 KB of shared memory.
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* kernel, int threads, size_t sharedBytes) = How many blocks of the kernel fit on a multiprocessor at once.
cudaError_t cudaOccupancyMaxPotentialBlockSize(int* minGrid, int* threads, T kernel, size_t sharedBytes = 0, int limit = 0) = A size of blocks for the highest occupancy.
cudaError_t cudaLaunchKernel(const void* kernel, dim3 grid, dim3 block, void** arguments, size_t sharedBytes = 0, cudaStream_t stream = 0) = What <<<...>>> does.
cudaError_t cudaLaunchCooperativeKernel(const void* kernel, dim3 grid, dim3 block, void** arguments, size_t sharedBytes = 0, cudaStream_t stream = 0) = Launches a grid whose blocks all run at once and may wait for each other.
void __pipeline_memcpy_async(void* shared, const void* global, size_t bytes) = Copies 4, 8 or 16 bytes from global to shared memory while the thread goes on; from cuda_pipeline.h.
void __pipeline_commit() = Ends a group of copies; from cuda_pipeline.h.
void __pipeline_wait_prior(size_t groups) = Waits for all but the last groups of copies; from cuda_pipeline.h.
size_t __cvta_generic_to_shared(const void* pointer) = The address within shared memory, for inline PTX.
`;

// Of dim3 and uint3; vectors also have w.
export const MEMBERS = {
  threadIdx: ["x", "y", "z"], blockIdx: ["x", "y", "z"], blockDim: ["x", "y", "z"], gridDim: ["x", "y", "z"],
};

// Name -> {name, kind, signature, about}.
export function cudaEntries() {
  const sections = [["variable", VARIABLES], ["keyword", SPECIFIERS], ["type", TYPES], ["function", FUNCTIONS]];
  return new Map(sections.flatMap(([kind, text]) => text.trim().split("\n").map((line) => entry(kind, line))));
}

function entry(kind, line) {
  // Defaults within the parameters have the same sign.
  const [, signature, about] = /^(.*?\)|[^()]*?) = (.+)$/.exec(line) ?? [];
  const name = /(\w+)(?:\(.*)?$/.exec(signature)[1];
  return [name, { name, kind, signature, about }];
}
