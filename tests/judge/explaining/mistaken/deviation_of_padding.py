import triton
import triton.language as tl


@triton.jit
def norm(src, w, bias, dst, eps, width, BLK: tl.constexpr):
    row = tl.program_id(0)
    j = tl.arange(0, BLK)
    ok = j < width
    v = tl.load(src + row * width + j, mask=ok, other=0.0)
    mu = tl.sum(v, axis=0) / width
    d = v - mu
    var = tl.sum(d * d, axis=0) / width
    y = d / tl.sqrt(var + eps)
    tl.store(dst + row * width + j, y * tl.load(w + j, mask=ok) + tl.load(bias + j, mask=ok), mask=ok)


def solve(x, gamma, beta, out, eps, rows, cols):
    if rows and cols:
        norm[(rows,)](x, gamma, beta, out, eps, cols, BLK=triton.next_power_of_2(cols))
