import torch
import triton
import triton.language as tl

# homework: sum. four loads per loop so that more of them are under way at once


@triton.jit
def unrolled(x, y, n, stride, BLK: tl.constexpr):
    me = tl.program_id(0)
    a = tl.zeros([BLK], tl.float32)
    b = tl.zeros([BLK], tl.float32)
    c = tl.zeros([BLK], tl.float32)
    d = tl.zeros([BLK], tl.float32)
    pos = me.to(tl.int64) * (4 * BLK) + tl.arange(0, BLK)
    for s in range(0, n, stride):
        q = pos + s
        a += tl.load(x + q, mask=q < n, other=0.0)
        b += tl.load(x + q + BLK, mask=q + BLK < n, other=0.0)
        c += tl.load(x + q + 2 * BLK, mask=q + 2 * BLK < n, other=0.0)
        d += tl.load(x + q + 3 * BLK, mask=q + 3 * BLK < n, other=0.0)
    tl.store(y + me, tl.sum((a + b) + (c + d)))


def solve(x, out, n):
    programs = 100 if n > 200000 else 4
    y = torch.empty(programs, device=x.device, dtype=torch.float32)
    unrolled[(programs,)](x, y, n, programs * 1024, BLK=256)
    unrolled[(1,)](y, out, programs, 1024, BLK=256)
