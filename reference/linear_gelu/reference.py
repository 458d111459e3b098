"""The contract of linear_gelu: a product, a bias for each column, and the exact GELU, all in float32; rounded once."""

import math

import torch

# By default PyTorch lets cuBLAS split a long sum and add the parts in float16.
torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction = False

_SQRT_HALF, _DENSITY_AT_0 = 0.5**0.5, (2 * math.pi) ** -0.5
# What float32 sums may be off by, as a share of the terms' absolute sum. Times rtol it is 8e-6, as for matmul_fp16.
_TERMS = 1 / 256
# PyTorch rounds the sum to float16 before GELU, which is right as well: it moves the sum by 5e-4 of itself at most.
_ROUNDED = 1 / 4
# Beyond it GELU is its argument, or 0.
_STRAIGHT = 20.0


def reference(x: torch.Tensor, w: torch.Tensor, bias: torch.Tensor, m: int, n: int, k: int) -> torch.Tensor:
    """out[m, n] = gelu(x[m, k] @ w[k, n] + bias[n]), rounded to float16 (infinite from 65520 on)."""
    wide = torch.promote_types(x.dtype, torch.float32)
    return _gelu(x.to(wide) @ w.to(wide) + bias.to(wide)).to(x.dtype)


def baseline(x: torch.Tensor, w: torch.Tensor, bias: torch.Tensor, m: int, n: int, k: int) -> torch.Tensor:
    """PyTorch on tensor cores: the sums with the bias are rounded, written, and read again."""
    return torch.nn.functional.gelu(torch.addmm(bias, x, w))


def magnitude(x: torch.Tensor, w: torch.Tensor, bias: torch.Tensor, m: int, n: int, k: int) -> torch.Tensor:
    """The scale of the errors: the result, for its rounding; a share of |x| @ |w| + |bias|, for that of the sum; and
    what changes if the sum is rounded to float16.

    float32 is precise enough for a scale, much faster than float64 on small GPUs, and wider than float16.
    """
    left, right, added = x.float(), w.float(), bias.float()
    terms = left.abs() @ right.abs() + added.abs()
    y = left @ right + added
    return _gelu(y).abs() + _ROUNDED * (y * _slope(y)).abs() + _TERMS * terms


def _slope(y: torch.Tensor) -> torch.Tensor:
    near = y.clamp(-_STRAIGHT, _STRAIGHT)
    return 0.5 * (1 + torch.erf(near * _SQRT_HALF)) + near * torch.exp(-0.5 * near * near) * _DENSITY_AT_0


def _gelu(y: torch.Tensor) -> torch.Tensor:
    # As PyTorch on a GPU: +inf stays +inf, -inf gives NaN. Its fused kernel for processors gives NaN for +inf.
    return 0.5 * y * (1 + torch.erf(y * _SQRT_HALF))
