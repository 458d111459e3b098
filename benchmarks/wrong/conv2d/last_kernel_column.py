# Mistake: the loop over the kernel's columns ends one too early.
# Says: \bw\b ; (last|kw) ; (column|kw|left out|never|no program reads|one too early)
import triton
import triton.language as tl


@triton.jit
def conv(x, w, out, width, rows, columns, kh, kw, BLOCK: tl.constexpr):
    r = tl.program_id(1)
    c = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for i in range(kh):
        for j in range(kw - 1):
            values = tl.load(x + (r + i) * width + c + j, mask=c < columns, other=0.0)
            total += values * tl.load(w + i * kw + j)
    tl.store(out + r * columns + c, total, mask=c < columns)


def solve(x, w, out, h, width, kh, kw):
    rows, columns = h - kh + 1, width - kw + 1
    if rows > 0 and columns > 0:
        conv[(triton.cdiv(columns, 128), rows)](x, w, out, width, rows, columns, kh, kw, BLOCK=128)
