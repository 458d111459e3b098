"""The contract of matmul_fp16: PyTorch's own product of float16 matrices, which adds up in float32 and rounds once."""

import torch

# By default PyTorch lets cuBLAS split a long sum and add the parts in float16.
torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction = False

# What float32 sums may be off by, as a share of the terms' absolute sum, beside what rounding the result costs: this
# share times rtol is the 8e-6 that a product in float32 is allowed.
_TERMS = 1 / 256


def reference(a: torch.Tensor, b: torch.Tensor, m: int, n: int, k: int) -> torch.Tensor:
    """out[m, n] = a[m, k] @ b[k, n], rounded to float16 (infinite from 65520 on); zeros where k = 0."""
    return a @ b


def magnitude(a: torch.Tensor, b: torch.Tensor, m: int, n: int, k: int) -> torch.Tensor:
    """The scale of the errors: |a @ b| for the rounding of the result, and a share of |a| @ |b| for that of the sum.

    float32 is precise enough for a scale, much faster than float64 on small GPUs, and wider than float16.
    """
    left, right = a.float(), b.float()
    return (left @ right).abs() + _TERMS * (left.abs() @ right.abs())
