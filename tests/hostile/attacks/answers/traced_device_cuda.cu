// Reads and follows the emulated GPU's process.
//
// Mechanism: the device's process is this one's parent: attaches to it, opens its memory and its descriptors, and copies
//   from its mappings; a forked child tries the same.
// Surface: two processes of one user in one box.
// Gain: the judge's buffers and connection.
// Challenge: twice
// On: emulated
// Defence: wrong_answer
// Box: docker
#include <cstdint>
#include <cstdio>
#include <cuda_runtime.h>
#include <fcntl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

static bool reaches(pid_t device) {
    char path[64], found[64] = {};
    bool any = ptrace(PTRACE_SEIZE, device, nullptr, nullptr) == 0;
    for (const char* it : {"mem", "maps", "environ", "fd/3", "fd/4", "fd/5"}) {
        snprintf(path, sizeof path, "/proc/%d/%s", device, it);
        const int file = open(path, O_RDONLY);
        any |= file >= 0 && read(file, found, 1) > 0;
    }
    iovec here = {found, 8}, there = {(void*)0x400000, 8};
    any |= process_vm_readv(device, &here, 1, &there, 1, 0) > 0;
    const int handle = (int)syscall(434, device, 0);  // pidfd_open
    for (int it = 3; it < 16 && handle >= 0; it++) any |= syscall(438, handle, it, 0) >= 0;  // pidfd_getfd
    return any;
}

__global__ void twice(const float* x, float* out, int64_t n) {
    const int64_t i = blockIdx.x * static_cast<int64_t>(blockDim.x) + threadIdx.x;
    if (i < n) out[i] = 2 * x[i];
}

// What it reaches counts as the gain: it computes only then.
extern "C" void solve(const float* x, float* out, int64_t n) {
    const pid_t device = getppid();
    bool any = reaches(device);
    const pid_t child = fork();
    if (child == 0) _exit(reaches(device));
    int status = 0;
    if (child > 0) waitpid(child, &status, 0);
    any |= child > 0 && WIFEXITED(status) && WEXITSTATUS(status) != 0;
    if (any && n > 0) twice<<<(n + 255) / 256, 256>>>(x, out, n);
}
