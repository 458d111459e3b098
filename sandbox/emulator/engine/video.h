/* Video instructions: integers of bytes, halves and words, one at a time or two or four in one register. */
#ifndef VIDEO_H
#define VIDEO_H
#include <stdint.h>

/* Names of the PTX instructions, in the order of lower.py. */
enum video_operation { V_ADD, V_SUB, V_ABSDIFF, V_MIN, V_MAX, V_AVERAGE, V_SHL, V_SHR, V_MAD, V_SET };
/* As lower.py writes it into the pool. lanes: 1, 2 or 4. Selectors of one lane: bits (8, 16 or 32) | place << 8; of more, for
 * each lane a place in both registers together, 4 bits each. second: 0 none, 1 add, 2 min, 3 max. into: as a selector, 32
 * where the result is not merged into c; of more lanes, a mask of those written. mad: 1: one more, 2: of the product's
 * negative, 4: of c's, 8 and 16: shifted right by 7 and 15. wraps: shifts are by their number modulo 32. */
struct video { uint32_t operation, lanes, d_signed, a_signed, b_signed, saturates, second, a_from, b_from, into, compare, mad, wraps; };
uint32_t video_result(const struct video *, uint32_t a, uint32_t b, uint32_t c);
#endif
