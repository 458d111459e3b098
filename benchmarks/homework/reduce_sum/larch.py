import triton
import triton.language as tl


@triton.jit
def scan_and_take_last(x, out, n, W: tl.constexpr):
    # A sum is the last element of a running sum.
    carry = 0.0
    for begin in range(0, n, W):
        lane = tl.arange(0, W)
        running = tl.cumsum(tl.load(x + begin + lane, mask=begin + lane < n, other=0.0), axis=0)
        carry += tl.sum(tl.where(lane == W - 1, running, 0.0), axis=0)
    tl.store(out, carry)


def solve(x, out, n):
    scan_and_take_last[(1,)](x, out, n, W=4096)
