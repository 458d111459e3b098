// Sends the runner's messages itself.
//
// Mechanism: looks through its descriptors for sockets, and sends "queued" and "returned" for the round that the
//   gate's page names, with done written into the page, before anything is computed.
// Surface: the connection from box to judge.
// Gain: accepted, whatever it computes.
// Challenge: twice
// Like: forged_returned
// Defence: wrong_answer, runtime_error
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <cuda_runtime.h>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

static volatile uint32_t* gate() {
    FILE* maps = std::fopen("/proc/self/maps", "r");
    char line[512];
    unsigned long start = 0;
    while (maps != nullptr && std::fgets(line, sizeof line, maps) != nullptr)
        if (std::strstr(line, "memfd:gate") != nullptr) std::sscanf(line, "%lx", &start);
    if (maps != nullptr) std::fclose(maps);
    return reinterpret_cast<volatile uint32_t*>(start);
}

static void say(const std::string& body) {
    const auto length = static_cast<uint32_t>(body.size());
    for (int descriptor = 3; descriptor < 256; ++descriptor) {
        struct stat what {};
        if (fstat(descriptor, &what) != 0 || !S_ISSOCK(what.st_mode)) continue;
        if (write(descriptor, &length, 4) == 4 && write(descriptor, body.data(), body.size()) < 0) return;
    }
}

extern "C" void solve(const float*, float*, int64_t) {
    volatile uint32_t* words = gate();
    if (words == nullptr) return;
    const std::string round = std::to_string(words[16] + 1);
    words[16] = words[16] + 1;
    say("{\"op\": \"queued\", \"round\": " + round + "}");
    say("{\"op\": \"returned\", \"round\": " + round + ", \"error\": null, \"empty_launches\": []}");
}
