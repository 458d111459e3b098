// Two threads use the emulated GPU at once, and one goes on after the call.
//
// Mechanism: one thread asks for copies through the runtime while another, and a forked child, write halves of
//   requests to the same socket. None computes anything.
// Surface: the device's process answers one request at a time, on one connection.
// Gain: an answer that belongs to another request; a call that ends while the device works.
// Challenge: twice
// On: emulated
// Defence: wrong_answer, runtime_error, time_limit
#include <cstdint>
#include <cuda_runtime.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

static void send_halves(int to, const float* x, float* out, int64_t n) {
    for (int turn = 0; turn < 1000; turn++) {
        struct { uint32_t kind, size; uint64_t to, from, size_of; uint32_t way, at; } copy =
            {6, 32, (uint64_t)out, (uint64_t)x, (uint64_t)n * 4, 3, 0};
        if (send(to, &copy, 20, MSG_NOSIGNAL) < 0) return;
        usleep(10);
        send(to, (char*)&copy + 20, sizeof copy - 20, MSG_NOSIGNAL);
    }
    struct { uint32_t kind, size; int32_t code, forgotten; } returned = {10, 8, 0, 0};
    send(to, &returned, sizeof returned, MSG_NOSIGNAL);
}

extern "C" void solve(const float* x, float* out, int64_t n) {
    for (int to = 3; to < 64; to++) {
        int kind = 0;
        socklen_t size = sizeof kind;
        if (getsockopt(to, SOL_SOCKET, SO_TYPE, &kind, &size) != 0) continue;
        std::thread([=] { send_halves(to, x, out, n); }).detach();
        if (fork() == 0) {
            send_halves(to, x, out, n);
            _exit(0);
        }
    }
    for (int turn = 0; turn < 1000; turn++) cudaMemcpy(out, x, 4 * n, cudaMemcpyDeviceToDevice);
}
