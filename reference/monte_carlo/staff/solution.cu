// Option prices by Monte Carlo: a warp simulates a part of one row's paths, all in registers. A thread makes four paths of
// each Philox counter. Rows with more than one part are added up by a second kernel, always in the same order.
#include <cstdint>
#include <cuda_runtime.h>

constexpr int kThreads = 256;
constexpr int kWarp = 32;
constexpr int kWarps = kThreads / kWarp;
constexpr unsigned kAll = 0xffffffffu;
constexpr int kRounds = 10;
constexpr float kLog2E = 1.44269504f;
constexpr float kTwoPi = 6.28318531f;
constexpr float kStep = 1.0f / (1 << 24);
// Counters of a lane: at least so many that the setup of a warp does not count, and no more than a float32 sum takes well.
constexpr int64_t kLeast = 8, kMost = 64;
constexpr int64_t kEnoughWarps = 32768;

struct Options {
    const float *spot, *strike, *volatility, *time;
    float rate;
    int64_t rows;
    uint32_t paths;
};

struct Split {
    uint32_t parts;   // of a row
    uint32_t each;    // counters of a part
    uint32_t key[kRounds];  // the first word of each round's key: the same for all threads, so computed once
};

struct Words {
    uint32_t w[4];
};

struct Pair {
    float first, second;
};

__device__ Words philox(uint32_t group, uint32_t row, const Split& split) {
    uint32_t c0 = group, c1 = row, c2 = 0, c3 = 0;
#pragma unroll
    for (int round = 0; round < kRounds; ++round) {
        const uint64_t first = static_cast<uint64_t>(c0) * 0xd2511f53u, second = static_cast<uint64_t>(c2) * 0xcd9e8d57u;
        c0 = static_cast<uint32_t>(second >> 32) ^ c1 ^ split.key[round];
        c1 = static_cast<uint32_t>(second);
        c2 = static_cast<uint32_t>(first >> 32) ^ c3 ^ round * 0xbb67ae85u;
        c3 = static_cast<uint32_t>(first);
    }
    return {{c0, c1, c2, c3}};
}

// Two normal numbers. The logarithm is the accurate one: near u = 1 the fast one is off by more than the result. Sine and
// cosine of an angle between -pi and pi may be the fast ones: they are off by 4e-7 at most.
__device__ Pair normals(uint32_t size, uint32_t angle) {
    const float square = -2.0f * logf(static_cast<float>((size >> 8) + 1) * kStep);
    float radius;
    asm("sqrt.approx.f32 %0, %1;" : "=f"(radius) : "f"(square));
    const float turn = (static_cast<float>(angle >> 8) * kStep - 0.5f) * kTwoPi;  // half a turn less: both signs change
    return {-radius * __cosf(turn), -radius * __sinf(turn)};
}

// max(spot * 2^exponent - strike, 0). A comparison, because fmaxf takes 0 of NaN and 0.
__device__ float payoff(float spot, float strike, float exponent) {
    const float gain = spot * exp2f(exponent) - strike;
    return gain < 0.0f ? 0.0f : gain;
}

__device__ double sum_of_warp(double value) {
    for (int distance = kWarp / 2; distance > 0; distance /= 2) value += __shfl_xor_sync(kAll, value, distance);
    return value;
}

__device__ float price(double sum, float time, const Options& options) {
    return expf(-options.rate * time) * static_cast<float>(sum / options.paths);
}

__global__ void __launch_bounds__(kThreads) simulate(Options options, Split split, float* out, double* sums) {
    const int64_t warp = static_cast<int64_t>(blockIdx.x) * kWarps + threadIdx.x / kWarp, row = warp / split.parts;
    if (row >= options.rows) return;
    const uint32_t part = static_cast<uint32_t>(warp % split.parts), lane = threadIdx.x % kWarp;
    const float spot = options.spot[row], strike = options.strike[row];
    const float deviation = options.volatility[row] * 0.01f, time = options.time[row];
    // As powers of two, which the hardware has.
    const float drift = (options.rate - deviation * deviation * 0.5f) * time * kLog2E;
    const float spread = deviation * sqrtf(time) * kLog2E;

    const uint32_t groups = (options.paths + 3) / 4, begin = part * split.each;
    const uint32_t end = min(begin + split.each, groups);
    float sum = 0.0f;
    for (uint32_t group = begin + lane; group < end; group += kWarp) {
        const Words words = philox(group, static_cast<uint32_t>(row), split);
        const Pair low = normals(words.w[0], words.w[1]), high = normals(words.w[2], words.w[3]);
        const float a = payoff(spot, strike, drift + spread * low.first);
        const float b = payoff(spot, strike, drift + spread * low.second);
        const float c = payoff(spot, strike, drift + spread * high.first);
        const float d = payoff(spot, strike, drift + spread * high.second);
        const uint32_t left = options.paths - 4 * group;
        if (left >= 4)
            sum += (a + b) + (c + d);
        else
            sum += a + (left > 1 ? b : 0.0f) + (left > 2 ? c : 0.0f);
    }
    const double all = sum_of_warp(sum);
    if (lane != 0) return;
    if (split.parts == 1)
        out[row] = price(all, time, options);
    else
        sums[warp] = all;
}

// A warp for each row.
__global__ void __launch_bounds__(kThreads) together(Options options, uint32_t parts, const double* sums, float* out) {
    const int64_t row = static_cast<int64_t>(blockIdx.x) * kWarps + threadIdx.x / kWarp;
    if (row >= options.rows) return;
    double sum = 0.0;
    for (uint32_t part = threadIdx.x % kWarp; part < parts; part += kWarp) sum += sums[row * parts + part];
    sum = sum_of_warp(sum);
    if (threadIdx.x % kWarp == 0) out[row] = price(sum, options.time[row], options);
}

static unsigned blocks(int64_t warps) { return static_cast<unsigned>((warps + kWarps - 1) / kWarps); }

extern "C" void solve(const float* spot, const float* strike, const float* volatility, const float* time, float* out,
                      float rate, uint32_t seed, int64_t rows, int64_t paths) {
    if (rows == 0) return;  // a grid of 0 blocks is a launch error
    const Options options = {spot, strike, volatility, time, rate, rows, static_cast<uint32_t>(paths)};
    // Parts as long as they may be, if there are enough of them for the whole GPU.
    const int64_t groups = (paths + 3) / 4;
    int64_t of_lane = groups * rows / (kWarp * kEnoughWarps);
    of_lane = of_lane < kLeast ? kLeast : of_lane > kMost ? kMost : of_lane;
    int64_t parts = (groups + kWarp * of_lane - 1) / (kWarp * of_lane);
    if (parts == 0) parts = 1;  // without paths: a mean of nothing has to be written
    Split split = {static_cast<uint32_t>(parts), static_cast<uint32_t>(kWarp * of_lane), {}};
    for (int round = 0; round < kRounds; ++round) split.key[round] = seed + round * 0x9e3779b9u;

    double* sums = nullptr;
    if (parts > 1 && cudaMallocAsync(&sums, rows * parts * sizeof(double), 0) != cudaSuccess) return;
    simulate<<<blocks(rows * parts), kThreads>>>(options, split, out, sums);
    if (parts == 1) return;
    together<<<blocks(rows), kThreads>>>(options, split.parts, sums, out);
    cudaFreeAsync(sums, 0);
}
