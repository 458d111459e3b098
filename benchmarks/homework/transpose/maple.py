import triton
import triton.language as tl


@triton.jit
def t(x, out, rows, cols, BLOCK_SIZE: tl.constexpr):
    # one column of x becomes one row of out
    pid = tl.program_id(axis=0)
    offsets = tl.arange(0, BLOCK_SIZE)
    mask = offsets < rows
    column = tl.load(x + offsets.to(tl.int64) * cols + pid, mask=mask)
    tl.store(out + pid.to(tl.int64) * rows + offsets, column, mask=mask)


def solve(x, out, rows, cols):
    if rows == 0:
        return
    if cols == 0:
        return
    t[(cols,)](x, out, rows, cols, BLOCK_SIZE=triton.next_power_of_2(rows))
