# Mistake: range(cols // BLOCK) leaves out the last, partial chunk of each row.
# Says: (rounds down|last|partial|rest) ; (chunk|block|column|element)
import triton
import triton.language as tl


@triton.jit
def rmsnorm(x, gamma, out, eps, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    acc = tl.zeros((BLOCK,), tl.float32)
    for i in range(cols // BLOCK):
        c = i * BLOCK + tl.arange(0, BLOCK)
        v = tl.load(x + row * cols + c)
        acc += v * v
    r = 1 / tl.sqrt(tl.sum(acc) / cols + eps)
    for i in range(0, cols, BLOCK):
        c = i + tl.arange(0, BLOCK)
        m = c < cols
        v = tl.load(x + row * cols + c, mask=m)
        g = tl.load(gamma + c, mask=m)
        tl.store(out + row * cols + c, v * r * g, mask=m)


def solve(x, gamma, out, eps, rows, cols):
    if rows and cols:
        rmsnorm[(rows,)](x, gamma, out, eps, cols, BLOCK=64)
