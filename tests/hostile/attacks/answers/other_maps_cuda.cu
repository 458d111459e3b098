// Reads every mapping of shared memory in its process.
//
// Mechanism: searches the judge's shared memory in /proc/self/maps for the answer's first words.
// Surface: buffers of the judge that are passed or inherited in addition to inputs and outputs.
// Gain: every answer without computing it.
// Challenge: twice
// Like: other_descriptors
// Defence: wrong_answer
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <cuda_runtime.h>

extern "C" void solve(const float* x, float* out, int64_t n) {
    float first[4];
    if (n < 4) return;
    cudaMemcpy(first, x, sizeof first, cudaMemcpyDeviceToHost);
    for (float& value : first) value *= 2;
    FILE* maps = std::fopen("/proc/self/maps", "r");
    char line[512];
    while (maps != nullptr && std::fgets(line, sizeof line, maps) != nullptr) {
        unsigned long start = 0, end = 0;
        if (std::strstr(line, "memfd") == nullptr || std::sscanf(line, "%lx-%lx", &start, &end) != 2) continue;
        for (unsigned long at = start; at + 4 * n <= end; at += 4)
            if (std::memcmp(reinterpret_cast<void*>(at), first, sizeof first) == 0)
                cudaMemcpy(out, reinterpret_cast<void*>(at), 4 * n, cudaMemcpyHostToDevice);
    }
    if (maps != nullptr) std::fclose(maps);
}
