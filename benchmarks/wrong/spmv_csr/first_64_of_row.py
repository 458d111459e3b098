# Mistake: there is no loop: of each row the first 64 entries are added.
# Says: \b64\b ; (first|only|BLOCK|left out|leaves|never read|loop|entries)
import triton
import triton.language as tl


@triton.jit
def spmv(row_ptr, col, val, x, out, BLOCK: tl.constexpr):
    r = tl.program_id(0).to(tl.int64)
    first = tl.load(row_ptr + r)
    last = tl.load(row_ptr + r + 1)
    j = first + tl.arange(0, BLOCK)
    mask = j < last
    c = tl.load(col + j, mask=mask, other=0)
    v = tl.load(val + j, mask=mask, other=0.0)
    tl.store(out + r, tl.sum(tl.where(mask, v * tl.load(x + c, mask=mask, other=0.0), 0.0)))


def solve(row_ptr, col, val, x, out, rows, cols, nnz):
    if rows:
        spmv[(rows,)](row_ptr, col, val, x, out, BLOCK=64)
