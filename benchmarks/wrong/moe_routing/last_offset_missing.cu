// Mistake: the last offset, offsets[experts], is never written.
// Says: offsets ; never written
#include <cmath>
#include <cstdint>
#include <cuda_runtime.h>

// Logit and expert in one number. Of two the one that comes first has the larger key.
__device__ uint64_t key_of(float logit, uint32_t expert) {
    const uint32_t bits = __float_as_uint(logit + 0.0f);
    uint32_t order = bits & 0x80000000u ? ~bits : bits | 0x80000000u;
    if (logit != logit) order = 0xffffffffu;
    return static_cast<uint64_t>(order) << 32 | (0x7fffffffu - expert);
}

// A thread has a token, and looks at all its logits for each of its experts.
__global__ void choose(const float* logits, int32_t* chosen, float* weights, int32_t* counts, int64_t tokens,
                       int64_t experts, int64_t k) {
    const int64_t token = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (token >= tokens) return;
    const float* row = logits + token * experts;
    uint64_t last = ~0ull;
    float largest = 0.0f, sum = 0.0f;
    for (int64_t i = 0; i < k; ++i) {
        uint64_t best = 0;
        for (int64_t e = 0; e < experts; ++e) {
            const uint64_t key = key_of(row[e], static_cast<uint32_t>(e));
            if (key < last && key > best) best = key;
        }
        last = best;
        const int32_t expert = static_cast<int32_t>(0x7fffffffu - static_cast<uint32_t>(best & 0x7fffffffu));
        if (i == 0) largest = row[expert];
        const float power = expf(row[expert] - largest);
        sum += power;
        chosen[token * k + i] = expert;
        weights[token * k + i] = power;
        atomicAdd(&counts[expert], 1);
    }
    for (int64_t i = 0; i < k; ++i) weights[token * k + i] /= sum;
}

__global__ void scan(const int32_t* counts, int64_t* offsets, int64_t experts) {
    int64_t sum = 0;
    for (int64_t e = 0; e < experts; ++e) {
        offsets[e] = sum;
        sum += counts[e];
    }
}

// A warp has an expert, and looks at all pairs.
__global__ void place(const int32_t* chosen, const int64_t* offsets, int32_t* order, int64_t pairs) {
    int64_t next = offsets[blockIdx.x];
    for (int64_t first = 0; first < pairs; first += 32) {
        const int64_t pair = first + threadIdx.x;
        const bool mine = pair < pairs && chosen[pair] == static_cast<int32_t>(blockIdx.x);
        const unsigned votes = __ballot_sync(~0u, mine);
        if (mine) order[next + __popc(votes & ((1u << threadIdx.x) - 1))] = static_cast<int32_t>(pair);
        next += __popc(votes);
    }
}

extern "C" void solve(const float* logits, int32_t* chosen, float* weights, int32_t* counts, int64_t* offsets,
                      int32_t* order, int64_t tokens, int64_t experts, int64_t k) {
    cudaMemsetAsync(counts, 0, experts * sizeof(int32_t), 0);
    const unsigned blocks = static_cast<unsigned>((tokens + 127) / 128);
    if (blocks) choose<<<blocks, 128>>>(logits, chosen, weights, counts, tokens, experts, k);
    scan<<<1, 1>>>(counts, offsets, experts);
    place<<<static_cast<unsigned>(experts), 32>>>(chosen, offsets, order, tokens * k);
}
