// The gate's word hidden from the judge, lest it sees when the gate opened.
// Mechanism: a judge may begin to count when its host sees the open word. It lies in a page that we can write: a thread of
//   ours spins on it, takes it back the moment it opens, starts the work by a word of its own, and shows the opening
//   only some microseconds later. G is shorter by as much.
// Surface: the open word; the judge's clock itself cannot be reached.
// Expected defence: the judge's own stream marks the opening, and its host looks at a page that we never have: no gain.
#include "attack.cuh"

#include <atomic>
#include <chrono>
#include <thread>
#include <unistd.h>

constexpr int kHiddenUs = 20;  // band: 20 400

static std::atomic<uint32_t> armed;  // the round to hide, or 0
static volatile uint32_t* page;
static volatile uint32_t* own;  // pinned: starts the work

static void hide() {
    for (;;) {
        const uint32_t round = armed;
        if (round == 0) {
            usleep(20);
            continue;
        }
        while (page[0] != round) {
        }
        page[0] = round - 1;
        *own = round;
        const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(kHiddenUs);
        while (std::chrono::steady_clock::now() < end) page[0] = round - 1;
        armed = 0;
        page[0] = round;
    }
}

static bool begin() {
    void* made = nullptr;
    cudaMallocHost(&made, 4);
    own = static_cast<volatile uint32_t*>(made);
    *own = 0;
    std::thread(hide).detach();
    return true;
}

extern "C" void solve(const float* a, const float* b, float* out, int64_t n) {
    static const bool begun = begin();
    const Gate gate = find_gate();
    if (!begun || !attack(n, gate)) return add_range(a, b, out, 0, n, nullptr);
    page = gate.words;
    stream_wait(side(), own, gate.round());
    add_range(a, b, out, 0, n, side());
    join();
    armed = gate.round();
}
