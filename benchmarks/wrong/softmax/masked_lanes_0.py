# Mistake: lanes beyond the row hold exp(0 - max) and are added to the sum.
# Says: (outside the mask|beyond|padding)
import triton
import triton.language as tl


@triton.jit
def softmax_kernel(x_ptr, out_ptr, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    offs = tl.arange(0, BLOCK)
    mask = offs < cols
    x = tl.load(x_ptr + row * cols + offs, mask=mask, other=0)  # HERE
    x = x - tl.max(tl.where(mask, x, float("-inf")), axis=0)
    num = tl.exp(x)
    den = tl.sum(num, axis=0)  # HERE
    tl.store(out_ptr + row * cols + offs, num / den, mask=mask)


def solve(x, out, rows, cols):
    if rows and cols:
        softmax_kernel[(rows,)](x, out, cols, BLOCK=triton.next_power_of_2(cols), num_warps=8)
