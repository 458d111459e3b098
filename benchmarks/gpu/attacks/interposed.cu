// Clock and synchronise replaced from native code.
// Mechanism: overwrites the first bytes of the driver's cuEventElapsedTime and cuCtxSynchronize in the runner's process
//   ("return 0"), and defines clock_gettime and gettimeofday, as a library preloaded into a grader would: whoever times
//   or waits in this process reads nothing, and waits for nothing.
// Surface: every clock and wait of the submission's own process.
// Expected defence: none of them is used for a time or a verdict: no gain.
#include "attack.cuh"

#include <ctime>
#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>

#define SHOWN extern "C" __attribute__((visibility("default")))
SHOWN int clock_gettime(clockid_t, timespec* now) noexcept {
    *now = {};
    return 0;
}
SHOWN int gettimeofday(timeval* now, void*) noexcept {
    *now = {};
    return 0;
}

static bool return_zero(const char* name) {
    static const unsigned char kCode[] = {0x31, 0xc0, 0xc3};  // xor eax, eax; ret
    void* driver = dlopen("libcuda.so.1", RTLD_NOW);
    auto* at = static_cast<unsigned char*>(dlsym(driver, name));
    const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
    auto* start = reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(at) / page * page);
    if (at == nullptr || mprotect(start, 2 * page, PROT_READ | PROT_WRITE | PROT_EXEC) != 0) return false;
    std::memcpy(at, kCode, sizeof kCode);
    return mprotect(start, 2 * page, PROT_READ | PROT_EXEC) == 0;
}

extern "C" void solve(const float* a, const float* b, float* out, int64_t n) {
    static bool replaced = false;
    if (n == kRanked && !replaced) replaced = return_zero("cuEventElapsedTime") && return_zero("cuCtxSynchronize");
    add_range(a, b, out, 0, n, nullptr);
}
