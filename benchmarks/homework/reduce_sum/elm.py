import torch
import triton
import triton.language as tl

# Tree of launches: 1024 times fewer numbers after each one, until a single one is left.


@triton.jit
def shrink(inp, res, m, WIDTH: tl.constexpr):
    i = tl.program_id(0)
    cols = i.to(tl.int64) * WIDTH + tl.arange(0, WIDTH)
    tl.store(res + i, tl.sum(tl.load(inp + cols, mask=cols < m, other=0.0), axis=0))


def solve(x, out, n):
    current, m = x, n
    while m > 1024:
        m_next = -(-m // 1024)
        nxt = torch.empty(m_next, dtype=x.dtype, device=x.device)
        shrink[(m_next,)](current, nxt, m, WIDTH=1024)
        current, m = nxt, m_next
    shrink[(1,)](current, out, m, WIDTH=1024)
