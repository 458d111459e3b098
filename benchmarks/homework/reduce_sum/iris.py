import triton
import triton.language as tl


@triton.autotune(
    configs=[
        triton.Config({"BLOCK": 1024}, num_warps=4),
        triton.Config({"BLOCK": 4096}, num_warps=8),
    ],
    key=["n"],
    reset_to_zero=["out_ptr"],
)
@triton.jit
def tuned_sum(in_ptr, out_ptr, n, BLOCK: tl.constexpr):
    block_start = tl.program_id(0).to(tl.int64) * BLOCK
    offsets = block_start + tl.arange(0, BLOCK)
    values = tl.load(in_ptr + offsets, mask=offsets < n, other=0.0)
    tl.atomic_add(out_ptr, tl.sum(values, axis=0))


@triton.jit
def fill_zero(ptr):
    tl.store(ptr, 0.0)


def solve(x, out, n):
    fill_zero[(1,)](out)
    if n == 0:
        return

    def grid(meta):
        return (triton.cdiv(n, meta["BLOCK"]),)

    tuned_sum[grid](x, out, n)
