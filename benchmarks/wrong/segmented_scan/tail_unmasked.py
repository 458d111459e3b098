# Mistake: lanes beyond the last element are not masked.
# Says: (mask|outside|beyond|past)
import triton
import triton.language as tl


@triton.jit
def scan(x, flags, out, n, BLOCK: tl.constexpr):
    carry = 0.0
    place = tl.arange(0, BLOCK)
    for first in range(0, n, BLOCK):
        v = tl.load(x + first + place)
        f = tl.load(flags + first + place) != 0
        before = place[None, :] <= place[:, None]
        head = tl.max(tl.where(before & f[None, :], place[None, :], -1), axis=1)
        since = before & (place[None, :] >= head[:, None])
        s = tl.sum(tl.where(since, v[None, :], 0.0), axis=1)
        s = tl.where(head < 0, carry + s, s)
        tl.store(out + first + place, s)
        carry = tl.sum(tl.where(place == BLOCK - 1, s, 0.0), axis=0)


def solve(x, flags, out, n):
    if n:
        scan[(1,)](x, flags, out, n, BLOCK=64)
