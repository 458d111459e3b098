# Mistake: there is one program for a, whatever its length.
# Says: (program|grid|512|launch|never written|covers)
import triton
import triton.language as tl

BLOCK = 512


@triton.jit
def place_kernel(own, others, out, n, m, steps, EQUAL: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = i < n
    value = tl.load(own + i, mask=inside, other=0)
    low = tl.zeros((BLOCK,), dtype=tl.int64)
    high = low + m
    for _ in range(steps):
        middle = (low + high) // 2
        searching = inside & (low < high)
        other = tl.load(others + middle, mask=searching, other=0)
        before = (other < value) | (EQUAL & (other == value))
        low = tl.where(searching & before, middle + 1, low)
        high = tl.where(searching & (before == 0), middle, high)
    tl.store(out + i + low, value, mask=inside)


def solve(a, b, out, n, m):
    if n > 0:
        place_kernel[(1,)](a, b, out, n, m, m.bit_length(), EQUAL=False, BLOCK=BLOCK)
    if m > 0:
        place_kernel[(triton.cdiv(m, BLOCK),)](b, a, out, m, n, n.bit_length(), EQUAL=True, BLOCK=BLOCK)
