import torch
import triton
import triton.language as tl


@triton.jit
def my_kernel(x, tmp, n_elements, BLOCK_SIZE: tl.constexpr):
    pid = tl.program_id(axis=0)
    block_start = pid * BLOCK_SIZE
    offsets = block_start + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements
    data = tl.load(x + offsets, mask=mask)
    data = tl.where(mask, data, 0.0)
    tl.store(tmp + pid, tl.sum(data, axis=0))


def solve(x, out, n):
    # first 2048 at a time, then all block sums at once (next power of 2 because arange wants that)
    n_blocks = max(1, triton.cdiv(n, 2048))
    tmp = torch.empty([n_blocks], dtype=torch.float32, device=x.device)
    my_kernel[(n_blocks,)](x, tmp, n, BLOCK_SIZE=2048)
    my_kernel[(1,)](tmp, out, n_blocks, BLOCK_SIZE=triton.next_power_of_2(n_blocks))
