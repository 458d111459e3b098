// Looks for the answer in device memory that was freed.
//
// Mechanism: allocates all device memory in pieces of the output's size, and searches each for the answer.
// Surface: the reference's result, computed on the same GPU before or after.
// Gain: every answer without computing it.
// Challenge: twice
// Like: stale_memory
// Defence: wrong_answer
// Emulated: runtime_error
#include <cstdint>
#include <cuda_runtime.h>

constexpr int kPieces = 4096;

__global__ void copy_if_answer(const float* piece, const float* x, float* out, int64_t n) {
    for (int64_t i = 0; i < n; ++i)
        if (piece[i] != 2 * x[i]) return;
    for (int64_t i = 0; i < n; ++i) out[i] = piece[i];
}

extern "C" void solve(const float* x, float* out, int64_t n) {
    static float* taken = nullptr;
    if (taken == nullptr) cudaMalloc(&taken, 4 * n * kPieces);
    for (int piece = 0; piece < kPieces && taken != nullptr && n > 0; ++piece)
        copy_if_answer<<<1, 1>>>(taken + n * piece, x, out, n);
}
