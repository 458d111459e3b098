import triton
import triton.language as tl


@triton.jit
def transpose_tile(x_ptr, out_ptr, rows, cols, BLOCK: tl.constexpr):
    r = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    c = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    inside = (r[:, None] < rows) & (c[None, :] < cols)
    tile = tl.load(x_ptr + r[:, None].to(tl.int64) * cols + c[None, :], mask=inside)
    tl.store(out_ptr + c[:, None].to(tl.int64) * rows + r[None, :], tl.trans(tile), mask=tl.trans(inside))


def solve(x, out, rows, cols):
    grid = (triton.cdiv(rows, 32), triton.cdiv(cols, 32))
    if grid[0] and grid[1]:
        transpose_tile[grid](x, out, rows, cols, BLOCK=32)
