// Registers forged fat binaries.
//
// Mechanism: registers the same kernel again from other PTX, and fat binaries with wrong lengths, also beyond
//   their end. Launches the result.
// Surface: the device's process reads fat binaries and PTX that no compiler wrote.
// Gain: control of the device's process.
// Challenge: twice
// On: emulated
// Defence: wrong_answer, runtime_error
#include <cstdint>
#include <cstring>
#include <cuda_runtime.h>

extern "C" void** __cudaRegisterFatBinary(void*);
extern "C" void __cudaRegisterFunction(void**, const char*, char*, const char*, int, uint3*, uint3*, dim3*, dim3*, int*);

__global__ void twice(const float* x, float* out, int64_t n) {
    const int64_t i = blockIdx.x * static_cast<int64_t>(blockDim.x) + threadIdx.x;
    if (i < n) out[i] = x[i];
}

static const char* const kPtx =
    ".version 9.0\n.target sm_90a\n.address_size 64\n.visible .entry other(.param .u64 a, .param .u64 b, .param .u64 c)\n"
    "{ .reg .b64 %r<4>; ld.param.u64 %r0, [c+4096]; st.global.u64 [%r0], %r0; ld.global.u64 %r1, [8]; ret; }\n";

struct Blob {
    uint32_t magic = 0xBA55ED50;
    uint16_t version = 1, header = 16;
    uint64_t size = 0;
    uint16_t kind = 1, entry_version = 1;
    uint32_t entry_header = 16;
    uint64_t entry_size = 0;
    char text[1024] = {};
};

static void try_out(const Blob& blob, const float* x, float* out, int64_t n) {
    struct { int magic, version; const void* data; void* more; } wrapper = {0x466243b1, 1, &blob, nullptr};
    void** module = __cudaRegisterFatBinary(&wrapper);
    char name[] = "other";
    static char place[64];
    static int made = 0;
    const char* host = &place[made++];
    __cudaRegisterFunction(module, host, name, name, -1, nullptr, nullptr, nullptr, nullptr, nullptr);
    void* values[] = {&x, &out, &n};
    cudaLaunchKernel((const void*)host, dim3(1), dim3(64), values, 0, nullptr);
}

extern "C" void solve(const float* x, float* out, int64_t n) {
    Blob good;
    strcpy(good.text, kPtx);
    good.size = sizeof good - 16, good.entry_size = strlen(kPtx) + 1;
    Blob longer = good, endless = good, empty = good, other = good;
    longer.entry_size = 1 << 20;
    endless.entry_size = ~0ull - 8;
    empty.entry_header = 0;
    other.kind = 2;
    for (const Blob& it : {longer, endless, empty, other, good}) try_out(it, x, out, n);
    if (n > 0) twice<<<(n + 255) / 256, 256>>>(x, out, n);
}
