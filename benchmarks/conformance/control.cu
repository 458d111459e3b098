// Control: calls of every kind, recursion, tables of jumps, loops, and what host code may hand to a kernel.
#include "conformance.cuh"

using conformance::mixed;
static __device__ __noinline__ uint32_t fibonacci(uint32_t n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
KERNEL(recursion, uint32_t, "bits", 1, 64, 64) { out[threadIdx.x] = fibonacci(threadIdx.x % 12); }
static __device__ __noinline__ uint32_t odd(uint32_t n);
static __device__ __noinline__ uint32_t even(uint32_t n) { return n == 0 ? 1 : odd(n - 1) * 3 + n; }
static __device__ __noinline__ uint32_t odd(uint32_t n) { return n == 0 ? 0 : even(n - 1) * 5 + n; }
KERNEL(recursion_mutual, uint32_t, "bits", 1, 64, 64) { out[threadIdx.x] = even(threadIdx.x % 20); }
static __device__ uint32_t ackermann(uint32_t m, uint32_t n) { return m == 0 ? n + 1 : n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1)); }
KERNEL(recursion_deep, uint32_t, "bits", 1, 32, 32) { out[threadIdx.x] = ackermann(threadIdx.x % 3, threadIdx.x % 7); }
using Binary = float (*)(float, float);
static __device__ float plus(float a, float b) { return a + b; }
static __device__ float times(float a, float b) { return a * b; }
static __device__ float larger(float a, float b) { return a > b ? a : b; }
__device__ Binary functions[3] = {plus, times, larger};
KERNEL(function_pointers, float, "bits", 1, 64, 64) { out[threadIdx.x] = functions[mixed(threadIdx.x) % 3](threadIdx.x * 0.5f, 20.0f); }
struct Shape { __device__ virtual float area() const = 0; __device__ virtual int corners() const { return 0; } };
struct Circle : Shape { float r; __device__ explicit Circle(float r) : r(r) {} __device__ float area() const override { return 3.25f * r * r; } };
struct Rectangle : Shape { float a, b; __device__ Rectangle(float a, float b) : a(a), b(b) {} __device__ float area() const override { return a * b; } __device__ int corners() const override { return 4; } };
struct Square : Rectangle { __device__ explicit Square(float a) : Rectangle(a, a) {} __device__ float area() const override { return a * a + 0.5f; } };
KERNEL(virtual_calls, float, "bits", 1, 64, 64) {
    Circle circle(threadIdx.x);
    Rectangle rectangle(threadIdx.x, 2);
    Square square(threadIdx.x);
    const Shape* each[3] = {&circle, &rectangle, &square};
    const Shape* it = each[mixed(threadIdx.x) % 3];
    out[threadIdx.x] = it->area() + 1000 * it->corners();
}
KERNEL(jump_table, uint32_t, "bits", 2, 64, 128) {
    uint32_t i = blockIdx.x * 64 + threadIdx.x, x = mixed(i);
    switch (i % 11) {
        case 0: x += 5; break;
        case 1: x ^= x >> 3; [[fallthrough]];
        case 2: x *= 7; break;
        case 3: x = ~x; break;
        case 4: x = __brev(x); break;
        case 5: x = __popc(x); break;
        case 6: x -= i; break;
        case 8: x = x << 5 | x >> 27; break;
        case 9: x = x / 3; break;
        default: x = i * i;
    }
    out[i] = x;
}
KERNEL(loops, uint32_t, "bits", 1, 64, 64) {
    uint32_t steps = 0, n = threadIdx.x + 1;
    while (n != 1) { n = n % 2 ? 3 * n + 1 : n / 2; steps++; }
    uint32_t found = 0;
    for (uint32_t a = 1; a < 30; a++) {
        for (uint32_t b = a; b < 30; b++) { if ((a * a + b * b) % (threadIdx.x + 7) == 0) goto done; if (b * a > 300) break; found++; }
    }
done:
    do { found ^= steps; steps >>= 1; } while (steps);
    out[threadIdx.x] = found;
}
struct Large { uint32_t words[20]; double number; };
static __device__ __noinline__ Large changed(Large it, int k) { it.words[k % 20] += k; it.number *= 1.5; return it; }
static __global__ void by_value(uint32_t* out, Large it, int8_t a, uint16_t b, double c, float4 d) {
    Large mine = changed(changed(it, threadIdx.x), threadIdx.x * 3);
    out[threadIdx.x] = mine.words[threadIdx.x % 20] + static_cast<uint32_t>(mine.number) + a + b + static_cast<uint32_t>(c) + static_cast<uint32_t>(d.z);
}
static void give(uint32_t* out) { Large it; for (int i = 0; i < 20; i++) it.words[i] = mixed(i); it.number = 100.25; by_value<<<1, 64>>>(out, it, -3, 65000, 12345.5, make_float4(1, 2, 3, 4)); }
LAUNCHED(arguments, uint32_t, "bits", 64, give(out))
template <typename F> static __device__ uint32_t folded(int n, F f) { uint32_t sum = 1; for (int i = 0; i < n; i++) sum = f(sum, i); return sum; }
KERNEL(lambdas, uint32_t, "bits", 1, 64, 64) { uint32_t k = threadIdx.x; out[k] = folded(k % 9, [k](uint32_t a, int b) { return a * k + b; }); }
KERNEL(early_returns, uint32_t, "bits", 1, 64, 64) {
    out[threadIdx.x] = 1;
    if (threadIdx.x % 2) return;
    out[threadIdx.x] = 2;
    for (uint32_t i = 0; i < 10; i++) { if (i == threadIdx.x) return; out[threadIdx.x] += i; }
}
static __device__ __noinline__ void parts(uint32_t x, uint32_t& quotient, uint32_t* rest) { quotient = x / 10; *rest = x % 10; }
KERNEL(references, uint32_t, "bits", 1, 64, 64) { uint32_t q, r, x = mixed(threadIdx.x), sum = 0; while (x) { parts(x, q, &r); sum = sum * 3 + r; x = q; } out[threadIdx.x] = sum; }
KERNEL(nanosleep, uint32_t, "bits", 1, 32, 32) { __nanosleep(100); out[threadIdx.x] = 3; }
KERNEL(wide_integers, uint64_t, "bits", 1, 64, 64) { __int128 x = static_cast<__int128>(mixed(threadIdx.x)) << 70 | threadIdx.x; out[threadIdx.x] = static_cast<uint64_t>((x * 3 / 7) >> 40); }
