import triton
import triton.language as tl


@triton.jit
def best(src, dst, cols, W: tl.constexpr):
    i = tl.program_id(0).to(tl.int64)
    j = tl.arange(0, W)
    v = tl.load(src + i * cols + j, mask=j < cols, other=0.0)
    tl.store(dst + i, tl.argmax(v, axis=0))


def solve(x, out, rows, cols):
    if rows:
        best[(rows,)](x, out, cols, W=triton.next_power_of_2(cols))
