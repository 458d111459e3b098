# Mistake: the place within a chunk is stored, without the chunk's beginning.
# Says: (chunk|block|modulo|remainder|beginning|offset|multiple)
import triton
import triton.language as tl


@triton.jit
def argmax(x, out, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    best = float("-inf")
    place = 0
    for start in range(0, cols, BLOCK):
        c = start + tl.arange(0, BLOCK)
        v = tl.load(x + row * cols + c, mask=c < cols, other=float("-inf"))
        top = tl.max(v, axis=0)
        here = tl.argmax(v, axis=0)
        if top > best:
            best = top
            place = here
    tl.store(out + row, place)


def solve(x, out, rows, cols):
    if rows:
        argmax[(rows,)](x, out, cols, BLOCK=128)
