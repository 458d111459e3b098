"""The contract of grouped_gemm: for each expert PyTorch's own product of float16 matrices, with float32 sums."""

import torch

# By default PyTorch lets cuBLAS split a long sum and add the parts in float16.
torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction = False

# What float32 sums may be off by, as a share of the terms' absolute sum, beside what rounding the result costs: this
# share times rtol is the 8e-6 that a product in float32 is allowed.
_TERMS = 1 / 256


def reference(
    x: torch.Tensor, w: torch.Tensor, offsets: torch.Tensor, tokens: int, experts: int, k: int, n: int
) -> torch.Tensor:
    """out[tokens, n]: rows offsets[e] to offsets[e + 1] - 1 are those of x[tokens, k], times w[e] of w[experts, k, n].

    Rounded to float16 (infinite from 65520 on); zeros if k = 0.
    """
    out = torch.zeros(tokens, n, dtype=x.dtype, device=x.device)
    # The sizes of the products are on the GPU, so the host has to wait for them.
    ends = offsets.tolist()
    for e in range(experts):
        first, end = ends[e], ends[e + 1]
        if first < end:
            out[first:end] = x[first:end] @ w[e]
    return out


def magnitude(
    x: torch.Tensor, w: torch.Tensor, offsets: torch.Tensor, tokens: int, experts: int, k: int, n: int
) -> torch.Tensor:
    """The scale of the errors: |x @ w| for the rounding of the result, and a share of |x| @ |w| for that of the sum.

    float32 is precise enough for a scale, and wider than float16.
    """
    out = torch.zeros(tokens, n, dtype=torch.float32, device=x.device)
    ends = offsets.tolist()
    for e in range(experts):
        first, end = ends[e], ends[e + 1]
        if first < end:
            left, right = x[first:end].float(), w[e].float()
            out[first:end] = (left @ right).abs() + _TERMS * (left.abs() @ right.abs())
    return out
