// Fourier transform of rows: Stockham's algorithm. A thread has eight numbers of a row and does three of its log2(n) steps
// in registers; then the threads of the row exchange numbers in shared memory. Global memory is read and written once.
#include <cstdint>
#include <cuda_runtime.h>

constexpr int kThreads = 128;
constexpr int kMostPoints = 8;  // of a thread

// exp(-2 pi i k / n) for all k, rounded from double by the compiler. A sine in float32 costs as much time as a pass, or has
// fewer digits.
template <int kLength>
struct Roots {
    float2 of[kLength];
};

template <int kLength>
constexpr Roots<kLength> make_roots() {
    Roots<kLength> found{};
    for (int k = 0; k < kLength; ++k) {
        // Up to half a turn by Taylor's series; the other half has the other sign.
        const double angle = 6.283185307179586476925 * (k % (kLength / 2)) / kLength, square = angle * angle;
        double cosine = 0, sine = 0, term = 1;
        for (int i = 1; i < 31; i += 2) {
            cosine += term;
            sine += term * angle / i;
            term *= -square / (i * (i + 1));
        }
        const double sign = k < kLength / 2 ? 1 : -1;
        found.of[k] = float2{static_cast<float>(sign * cosine), static_cast<float>(-sign * sine)};
    }
    return found;
}

template <int kLength>
__device__ constexpr Roots<kLength> kRoots = make_roots<kLength>();

__device__ float2 operator+(float2 a, float2 b) { return make_float2(a.x + b.x, a.y + b.y); }
__device__ float2 operator-(float2 a, float2 b) { return make_float2(a.x - b.x, a.y - b.y); }
__device__ float2 operator*(float2 a, float2 b) { return make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x); }
__device__ float2 times_minus_i(float2 a) { return make_float2(a.y, -a.x); }

__device__ void transform_2(float2& a, float2& b) {
    const float2 sum = a + b;
    b = a - b;
    a = sum;
}

__device__ void transform_4(float2& a, float2& b, float2& c, float2& d) {
    const float2 e = a + c, f = a - c, g = b + d, h = times_minus_i(b - d);
    a = e + g;
    b = f + h;
    c = e - g;
    d = f - h;
}

__device__ void transform_8(float2* v) {
    constexpr float kHalfRoot = 0.70710678118654752440f;
    transform_4(v[0], v[2], v[4], v[6]);
    transform_4(v[1], v[3], v[5], v[7]);
    const float2 a = v[1], b = v[3] * make_float2(kHalfRoot, -kHalfRoot), c = times_minus_i(v[5]),
                 d = v[7] * make_float2(-kHalfRoot, -kHalfRoot);
    const float2 e = v[0], f = v[2], g = v[4], h = v[6];
    v[0] = e + a, v[4] = e - a;
    v[1] = f + b, v[5] = f - b;
    v[2] = g + c, v[6] = g - c;
    v[3] = h + d, v[7] = h - d;
}

// Where a number is in shared memory. A half-warp reads 16 neighbours, which is one pass whatever their order, and writes
// numbers 8 or 64 apart: without this exchange within groups of 16 they would share banks.
__device__ int place(int i) { return i ^ (i >> 4 & 7) ^ (i >> 3 & 8); }

// Waits for the threads of a row: a row that has a warp or less needs no barrier of the block.
template <int kTeam>
__device__ void wait() {
    if constexpr (kTeam <= 32)
        __syncwarp();
    else
        __syncthreads();
}

// What is left of a row of kLength is kLength / kLeft transforms of kLeft numbers. v[i] is number lane + i * kTeam, and the
// row begins at `start` of shared memory.
template <int kLength, int kLeft>
__device__ void transform(float2* v, float2* shared, int start, int lane) {
    constexpr int kTeam = kLength / kMostPoints;
    if constexpr (kLeft == 8) {
        transform_8(v);
    } else if constexpr (kLeft == 4) {
        transform_4(v[0], v[2], v[4], v[6]);
        transform_4(v[1], v[3], v[5], v[7]);
    } else if constexpr (kLeft == 2) {
        for (int i = 0; i < 4; ++i) transform_2(v[i], v[i + 4]);
    } else {
        transform_8(v);
        constexpr int kStride = kLength / kLeft;
        const int q = lane % kStride, p = lane / kStride;
        // Three loads and four products: w7 would be too far from exact as a power of w1.
        const float2* root = kRoots<kLength>.of;
        const float2 w1 = root[p * kStride], w2 = root[2 * p * kStride], w4 = root[4 * p * kStride];
        v[1] = v[1] * w1;
        v[2] = v[2] * w2;
        v[3] = v[3] * (w1 * w2);
        v[4] = v[4] * w4;
        v[5] = v[5] * (w1 * w4);
        v[6] = v[6] * (w2 * w4);
        v[7] = v[7] * (w1 * w2 * w4);
        if constexpr (kStride > 1) wait<kTeam>();  // all have read what is overwritten
#pragma unroll
        for (int i = 0; i < 8; ++i) shared[place(start + q + kStride * (8 * p + i))] = v[i];
        wait<kTeam>();
#pragma unroll
        for (int i = 0; i < 8; ++i) v[i] = shared[place(start + lane + i * kTeam)];
        transform<kLength, kLeft / 8>(v, shared, start, lane);
    }
}

template <int kLength>
__global__ void __launch_bounds__(kThreads) transform_rows(const float2* x, float2* out, int64_t rows) {
    constexpr int kPoints = kLength < kMostPoints ? kLength : kMostPoints;
    constexpr int kTeam = kLength / kPoints, kRows = kThreads / kTeam;
    __shared__ float2 exchanged[kTeam > 1 ? kRows * kLength : 1];
    const int lane = threadIdx.x % kTeam, own = threadIdx.x / kTeam;
    const int64_t row = static_cast<int64_t>(blockIdx.x) * kRows + own;
    const int64_t first = row * kLength + lane;
    float2 v[kPoints];  // all loads are on their way before the first is waited for
#pragma unroll
    for (int i = 0; i < kPoints; ++i) v[i] = row < rows ? x[first + i * kTeam] : float2{};
    if constexpr (kLength >= 8)
        transform<kLength, kLength>(v, exchanged, own * kLength, lane);
    else if constexpr (kLength == 4)
        transform_4(v[0], v[1], v[2], v[3]);
    else if constexpr (kLength == 2)
        transform_2(v[0], v[1]);
    if (row >= rows) return;
#pragma unroll
    for (int i = 0; i < kPoints; ++i) out[first + i * kTeam] = v[i];
}

template <int kLength>
void launch(const float2* x, float2* out, int64_t rows, int64_t n) {
    if constexpr (kLength > 1) {
        if (n < kLength) return launch<kLength / 2>(x, out, rows, n);
    }
    constexpr int kRows = kLength < kMostPoints ? kThreads : kThreads * kMostPoints / kLength;
    const int64_t blocks = (rows + kRows - 1) / kRows;
    if (blocks) transform_rows<kLength><<<static_cast<unsigned>(blocks), kThreads>>>(x, out, rows);
}

extern "C" void solve(const float2* x, float2* out, int64_t rows, int64_t n) { launch<1024>(x, out, rows, n); }
