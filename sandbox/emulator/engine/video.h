/* Integers of bytes, halves and words, one, two or four in a register. */
#ifndef VIDEO_H
#define VIDEO_H
#include <stdint.h>

#include "names.h"

#define NUMBERED_VIDEO(name, ...) VIDEO_##name __VA_OPT__(= __VA_ARGS__),
#define NUMBERED_COMPARE(name, ...) COMPARE_##name __VA_OPT__(= __VA_ARGS__),
#define NUMBERED_SECOND(name, ...) SECOND_##name __VA_OPT__(= __VA_ARGS__),
enum video_operation { VIDEOS(NUMBERED_VIDEO) };
enum video_comparison { COMPARISONS(NUMBERED_COMPARE) };
enum video_second { VIDEO_SECONDS(NUMBERED_SECOND) };
enum video_mad { VIDEO_MADS(NUMBERED) };
/* In the pool, by lower/video.py. lanes: 1, 2 or 4. Selectors: bits (8, 16 or 32) | place << 8; of more lanes, 4 bits
 * each for a place in both registers. second: 0, or enum video_second. into: a selector, 32: not merged into c; or a
 * mask of written lanes. mad: enum video_mad, the last two shift right. wraps: shifts modulo 32. */
struct video {
    uint32_t operation, lanes, d_signed, a_signed, b_signed, saturates, second, a_from, b_from, into, compare, mad,
            wraps;
};
uint32_t video_result(const struct video *, uint32_t a, uint32_t b, uint32_t c);
#endif
