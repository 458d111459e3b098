// Edges of an image in one pass: a warp has 128 columns and goes down the rows; a lane has four pixels. What a pixel
// needs of the rows above is in its lane's registers, what it needs from the left and right in the lanes next to it.
// Two pixels share a register as 16-bit numbers: whole numbers up to the blur's sums, and as halves, which hold whole
// numbers up to 2048 exactly, from the blurred values on.
#include <cstdint>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

constexpr int kEach = 4;  // pixels of a lane
constexpr int kRegion = 32 * kEach;
constexpr int kTile = kRegion - 2 * kEach;  // lanes 0 and 31 are the halo: two pixels on each side are needed
constexpr unsigned kAllLanes = 0xffffffffu;
// Blocks of one warp that keep 132 multiprocessors busy, and how many rows each goes down then. Four more are loaded.
constexpr int64_t kEnoughBlocks = 132 * 32 * 2;
constexpr int64_t kMostRows = 64, kFewestRows = 8;

constexpr unsigned kRed = 77, kGreen = 150, kBlue = 29;

struct Words {
    unsigned w[3];  // four pixels of three bytes
    unsigned shift;  // bits in the first word that are the pixel's before
};

// Of four pixels: the first two and the last two, in the halves of a register.
struct Pairs {
    unsigned a, b;
};

struct Halves {
    __half2 a, b;
};

__device__ __forceinline__ Pairs grey_of(Words p) {
    const unsigned half = 128;
    const unsigned g0 = __dp4a(p.w[0], kRed | kGreen << 8 | kBlue << 16, half);
    const unsigned g1 = __dp4a(p.w[0], kRed << 24, __dp4a(p.w[1], kGreen | kBlue << 8, half));
    const unsigned g2 = __dp4a(p.w[1], kRed << 16 | kGreen << 24, __dp4a(p.w[2], kBlue, half));
    const unsigned g3 = __dp4a(p.w[2], kRed << 8 | kGreen << 16 | kBlue << 24, half);
    // A sum is below 65536: byte 1 is sum / 256, byte 3 is 0.
    return {__byte_perm(g0, g1, 0x7531), __byte_perm(g2, g3, 0x7531)};
}

// The upper half of `low` and the lower half of `high`.
__device__ __forceinline__ unsigned between(unsigned low, unsigned high) { return __byte_perm(low, high, 0x5432); }

__device__ __forceinline__ unsigned bits(__half2 value) { return *reinterpret_cast<unsigned*>(&value); }

__device__ __forceinline__ __half2 halves(unsigned value) { return *reinterpret_cast<__half2*>(&value); }

// Smoothed numbers are 1, 2, 1 parts of an element and its neighbours.
__device__ __forceinline__ Pairs smooth_across(Pairs g) {
    const unsigned before = __shfl_up_sync(kAllLanes, g.b, 1), after = __shfl_down_sync(kAllLanes, g.a, 1);
    const unsigned middle = between(g.a, g.b);
    return {between(before, g.a) + middle + 2 * g.a, middle + between(g.b, after) + 2 * g.b};
}

// Sixteenths, rounded, of two pixels as halves. 0x6400 is 1024 as a half, and its last bits count ones.
__device__ __forceinline__ __half2 blurred(unsigned sums) {
    const __half2 raised = halves((sums >> 4 & 0x00ff00ffu) | 0x64006400u);
    return __hsub2(raised, __float2half2_rn(1024.0f));
}

__device__ __forceinline__ unsigned chosen(unsigned mask, unsigned yes, unsigned no) {
    return (mask & yes) | (~mask & no);
}

// kEdge: the region reaches beyond the first or the last column. kAligned: all rows begin at a multiple of four bytes.
template <bool kEdge, bool kAligned>
__device__ __forceinline__ void go_down(const uint8_t* __restrict__ image, uint8_t* __restrict__ edges, int64_t height,
                                        int64_t width, int64_t column0, int64_t first, int count) {
    const int lane = threadIdx.x;
    const int64_t column = column0 + kEach * lane, pitch = 3 * width;

    // Pixels whose left or right neighbour is themselves: all bits of their half.
    unsigned no_left = 0, no_right_a = 0, no_right_b = 0;
    if (kEdge) {
        if (column == 0) no_left = 0x0000ffffu;
        if (column == width - 1) no_right_a = 0x0000ffffu;
        if (column + 1 == width - 1) no_right_a = 0xffff0000u;
        if (column + 2 == width - 1) no_right_b = 0x0000ffffu;
        if (column + 3 == width - 1) no_right_b = 0xffff0000u;
    }

    // Rows above the first one are the first one, and rows below the last one the last.
    const uint8_t* row = image + (first > 2 ? first - 2 : 0) * pitch;
    int number = -2;  // from `first` on
    const int lowest = first > 2 ? -2 : static_cast<int>(-first);
    const int highest = height - 1 - first < count + 3 ? static_cast<int>(height - 1 - first) : count + 3;
    const auto fetch = [&] {
        Words found;
        found.shift = 0;
        if (kEdge) {
            unsigned bytes[3 * kEach];
#pragma unroll
            for (int i = 0; i < kEach; ++i) {
                const int64_t x = column + i < 0 ? 0 : column + i < width ? column + i : width - 1;
#pragma unroll
                for (int c = 0; c < 3; ++c) bytes[3 * i + c] = row[3 * x + c];
            }
#pragma unroll
            for (int k = 0; k < 3; ++k)
                found.w[k] =
                    bytes[4 * k] | bytes[4 * k + 1] << 8 | bytes[4 * k + 2] << 16 | bytes[4 * k + 3] << 24;
        } else {
            // A row begins anywhere; words are taken where words begin, up to three bytes before.
            const uint8_t* begin = row + 3 * column0;
            const unsigned before = kAligned ? 0 : reinterpret_cast<uintptr_t>(begin) & 3;
            found.shift = 8 * before;
            const auto* words = reinterpret_cast<const unsigned*>(begin - before) + 3 * lane;
#pragma unroll
            for (int k = 0; k < 3; ++k) found.w[k] = words[k];
        }
        if (number >= lowest && number < highest) row += pitch;
        ++number;
        return found;
    };
    // Takes a row that was asked for, and asks for the one after next: two rows are under way.
    const auto take = [&](Words& slot) {
        Words here = slot;
        if (!kEdge && !kAligned) {
            // The last bytes are the next lane's first ones.
            const unsigned next = __shfl_down_sync(kAllLanes, here.w[0], 1);
            here.w[0] = __funnelshift_r(here.w[0], here.w[1], here.shift);
            here.w[1] = __funnelshift_r(here.w[1], here.w[2], here.shift);
            here.w[2] = __funnelshift_r(here.w[2], next, here.shift);
        }
        const Pairs grey = grey_of(here);
        slot = fetch();
        return smooth_across(grey);
    };

    uint8_t* to = edges + first * width + column;
    const auto store = [&](unsigned word) {
        // The same for all tiles of a row: how far words of `edges` begin before a lane's pixels, or 1 after them.
        const int off = kAligned ? 0 : reinterpret_cast<uintptr_t>(to) & 3, shift = off < 3 ? -off : 1;
        if (kEdge) {
            const int64_t next = column0 + kEach + kTile;
            const int64_t begin = column0 < 0 ? 0 : column0 + kEach + shift;
            const int64_t end = next < width ? next + shift : width;
#pragma unroll
            for (int i = 0; i < kEach; ++i)
                if (column + i >= begin && column + i < end) to[i] = static_cast<uint8_t>(word >> (8 * i));
        } else {
            unsigned whole = word;
            if (!kAligned) {
                const unsigned other = __shfl_sync(kAllLanes, word, lane + (off < 3 ? 31 : 1), 32);
                whole = off < 3 ? __funnelshift_rc(other, word, 32 - 8 * off) : __funnelshift_r(word, other, 8);
            }
            if (lane > 0 && lane < 31) *reinterpret_cast<unsigned*>(to + shift) = whole;
        }
        to += width;
    };

    // Smoothed rows: the newest, and the sums that lack one row.
    Words soon = fetch(), later = fetch();
    Pairs newest = take(soon), sums;
    const auto add = [&](Pairs now) {
        sums = {newest.a + 2 * now.a + 0x00080008u, newest.b + 2 * now.b + 0x00080008u};
        newest = now;
    };
    add(take(later));
    // Of the next blurred row: how much it rises across, and its smoothed numbers.
    const auto blur = [&](Words& slot, Halves& slope, Halves& smooth) {
        const Pairs now = take(slot);
        const __half2 a = blurred(sums.a + now.a), b = blurred(sums.b + now.b);
        add(now);
        const unsigned before = __shfl_up_sync(kAllLanes, bits(b), 1);
        const unsigned after = __shfl_down_sync(kAllLanes, bits(a), 1);
        const unsigned middle = between(bits(a), bits(b));
        unsigned left_a = between(before, bits(a)), right_a = middle, right_b = between(bits(b), after);
        if (kEdge) {
            left_a = chosen(no_left, bits(a), left_a);
            right_a = chosen(no_right_a, bits(a), right_a);
            right_b = chosen(no_right_b, bits(b), right_b);
        }
        const __half2 two = __float2half2_rn(2.0f);
        slope = {__hsub2(halves(right_a), halves(left_a)), __hsub2(halves(right_b), halves(middle))};
        smooth = {__hfma2(two, a, __hadd2(halves(left_a), halves(right_a))),
                  __hfma2(two, b, __hadd2(halves(middle), halves(right_b)))};
    };
    Halves slope0, smooth0, slope1, smooth1;  // of the blurred row above a result, and of its own
    blur(soon, slope0, smooth0);
    blur(later, slope1, smooth1);
    if (first == 0) slope0 = slope1, smooth0 = smooth1;  // above the first row: the same
    const auto finish = [&](Halves slope, Halves smooth) {
        const __half2 two = __float2half2_rn(2.0f), most = __float2half2_rn(255.0f), raise = __float2half2_rn(1024.0f);
        const auto strength = [&](__half2 above, __half2 own, __half2 below, __half2 rise) {
            const __half2 across = __hadd2(__hfma2(two, own, above), below);
            return bits(__hadd2(__hmin2(__hadd2(__habs2(across), __habs2(rise)), most), raise));
        };
        const unsigned a = strength(slope0.a, slope1.a, slope.a, __hsub2(smooth.a, smooth0.a));
        const unsigned b = strength(slope0.b, slope1.b, slope.b, __hsub2(smooth.b, smooth0.b));
        store(__byte_perm(a, b, 0x6420));
        slope0 = slope1, smooth0 = smooth1, slope1 = slope, smooth1 = smooth;
    };

    // Results that have a row below them.
    const int usual = height - 1 - first < count ? static_cast<int>(height - 1 - first) : count;
    Halves slope, smooth;
    int i = 0;
    for (; i + 1 < usual; i += 2) {
        blur(soon, slope, smooth);
        finish(slope, smooth);
        blur(later, slope, smooth);
        finish(slope, smooth);
    }
    if (i < usual) {
        blur(soon, slope, smooth);
        finish(slope, smooth);
    }
    if (usual < count) finish(slope1, smooth1);  // below the last row: its blurred numbers once more
}

// One warp a block, so that the compiler knows what is the same for all its threads.
__global__ void __launch_bounds__(32)
    pipeline(const uint8_t* __restrict__ image, uint8_t* __restrict__ edges, int64_t height, int64_t width,
             unsigned across, int rows, bool aligned) {
    const int64_t column0 = static_cast<int64_t>(blockIdx.x % across) * kTile - kEach;
    const int64_t first = static_cast<int64_t>(blockIdx.x / across) * rows;
    const int count = first + rows < height ? rows : static_cast<int>(height - first);
    if (column0 < 0 || column0 + kRegion > width)
        go_down<true, false>(image, edges, height, width, column0, first, count);
    else if (aligned)
        go_down<false, true>(image, edges, height, width, column0, first, count);
    else
        go_down<false, false>(image, edges, height, width, column0, first, count);
}

extern "C" void solve(const uint8_t* image, uint8_t* edges, int64_t height, int64_t width) {
    if (height == 0 || width == 0) return;  // a grid of 0 blocks is a launch error
    const int64_t across = (width + kTile - 1) / kTile;
    int64_t rows = kMostRows;
    const auto blocks = [&] { return across * ((height + rows - 1) / rows); };
    while (rows > kFewestRows && blocks() < kEnoughBlocks) rows /= 2;
    const auto addresses = reinterpret_cast<uintptr_t>(image) | reinterpret_cast<uintptr_t>(edges);
    pipeline<<<static_cast<unsigned>(blocks()), 32>>>(image, edges, height, width, static_cast<unsigned>(across),
                                                      static_cast<int>(rows), width % 4 == 0 && addresses % 4 == 0);
}
