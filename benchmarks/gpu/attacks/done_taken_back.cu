// "Done" taken back as soon as it is said.
// Mechanism: a thread overwrites the done word without pause from the moment that the call is done. The judge's stream
//   waits for that word, and where it never sees it, whatever the judge asks of the GPU next waits too.
// Surface: a word that both sides can write; the judge's own stream.
// Expected defence: whether the judge sees "done" or not, it writes the word itself until its stream has gone on. The
//   submission is charged, out of time, or caught lying; the next one is judged as ever.
#include "attack.cuh"

#include <atomic>
#include <thread>
#include <unistd.h>

static std::atomic<uint32_t> armed;  // the round to take back, or 0
static volatile uint32_t* page;

static void take_back() {
    for (;;) {
        const uint32_t round = armed;
        if (round == 0) {
            usleep(20);
            continue;
        }
        while (page[16] != round) {
        }
        while (armed == round) page[16] = round - 1;
    }
}

static bool begin() {
    for (int i = 0; i < 4; ++i) std::thread(take_back).detach();
    return true;
}

extern "C" void solve(const float* a, const float* b, float* out, int64_t n) {
    static const bool begun = begin();
    const Gate gate = find_gate();
    if (begun && n >= kTimed && gate.words != nullptr) {
        page = gate.words;
        armed = page[0] + 1;
    }
    add_range(a, b, out, 0, n, nullptr);
}
