import triton
import triton.language as tl

TILE = 16


@triton.jit
def small_tiles(x, out, rows, cols, across, T: tl.constexpr):
    tile = tl.program_id(0)
    ty = (tile // across).to(tl.int64) * T
    tx = (tile % across).to(tl.int64) * T
    y = ty + tl.arange(0, T)
    z = tx + tl.arange(0, T)
    t = tl.load(x + (y[:, None] * cols + z[None, :]), mask=(y < rows)[:, None] & (z < cols)[None, :], other=0)
    t = tl.permute(t, (1, 0))
    tl.store(out + (z[:, None] * rows + y[None, :]), t, mask=(z < cols)[:, None] & (y < rows)[None, :])


def solve(x, out, rows, cols):
    down, across = -(-rows // TILE), -(-cols // TILE)
    if down * across > 0:
        small_tiles[(down * across,)](x, out, rows, cols, across, T=TILE, num_warps=1)
