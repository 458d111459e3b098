import triton
import triton.language as tl

# as strides: an input stride and an output stride for each of the two dimensions, so the kernel is just a copy


@triton.jit
def strided_copy(src, dst, d0, d1, s0, s1, t0, t1, B0: tl.constexpr, B1: tl.constexpr):
    n1 = tl.cdiv(d1, B1)
    p0 = tl.program_id(0) // n1
    p1 = tl.program_id(0) % n1
    i0 = (p0 * B0 + tl.arange(0, B0)).to(tl.int64)
    i1 = (p1 * B1 + tl.arange(0, B1)).to(tl.int64)
    valid = (i0 < d0)[:, None] & (i1 < d1)[None, :]
    from_ = src + (i0 * s0)[:, None] + (i1 * s1)[None, :]
    to = dst + (i0 * t0)[:, None] + (i1 * t1)[None, :]
    tl.store(to, tl.load(from_, mask=valid), mask=valid)


def solve(x, out, rows, cols):
    count = triton.cdiv(rows, 32) * triton.cdiv(cols, 64)
    if count:
        strided_copy[(count,)](x, out, rows, cols, cols, 1, 1, rows, B0=32, B1=64)
