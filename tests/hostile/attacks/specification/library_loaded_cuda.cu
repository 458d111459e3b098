// Loads a forbidden library.
//
// Mechanism: opens cuBLAS at run time, as the linker would refuse it, and lets it compute the answer; without
//   cuBLAS it writes nothing.
// Surface: the rule that a submission computes by its own kernels.
// Gain: the library's speed, under the name of an own kernel.
// Challenge: twice
// Case: basic
// Defence: wrong_answer, library_kernel
#include <cstdint>
#include <cuda_runtime.h>
#include <dlfcn.h>

extern "C" void solve(const float* x, float* out, int64_t n) {
    static void* library = nullptr;
    for (const char* name : {"libcublas.so.13", "libcublas.so.12", "libcublas.so"})
        if (library == nullptr) library = dlopen(name, RTLD_NOW);
    if (library == nullptr) return;
    using Create = int (*)(void**);
    using Axpy = int (*)(void*, int, const float*, const float*, int, float*, int);
    static void* handle = nullptr;
    if (handle == nullptr) reinterpret_cast<Create>(dlsym(library, "cublasCreate_v2"))(&handle);
    const float two = 2;
    cudaMemsetAsync(out, 0, 4 * n, cudaStreamLegacy);
    reinterpret_cast<Axpy>(dlsym(library, "cublasSaxpy_v2"))(handle, static_cast<int>(n), &two, x, 1, out, 1);
}
