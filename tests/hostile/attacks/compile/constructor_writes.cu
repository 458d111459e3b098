// A library that writes when it is loaded.
//
// Mechanism: constructors of three kinds leave a file that says where they ran.
// Surface: any process that loads the library: only the runner's box may.
// Gain: a stranger's code in the judge, the worker or the compiler's host.
// Challenge: twice
// Defence: runtime_error
// On: cpu, gpu
// Box: docker
// Secret: environment

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <unistd.h>
static int leave(const char* where) {
    int file = open("/tmp/hostile-constructor", O_CREAT | O_WRONLY | O_APPEND, 0666);
    dprintf(file, "%s by %d\n", where, getuid());
    if (const char* secret = getenv("HOSTILE_CANARY")) dprintf(1, "%s\n", secret);
    return dprintf(1, "%s by %d\n", where, getuid());
}
static int early = leave("an initialiser");
struct Member { Member() { leave("a constructor"); } } member;
__attribute__((constructor)) static void attribute() {
    leave("an attribute");
    _exit(3);
}
extern "C" void solve(const float* x, float* out, int64_t n) {}
