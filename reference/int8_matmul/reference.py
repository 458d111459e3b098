"""The contract of int8_matmul: exact sums of products of int8, times a scale for each row and each column."""

import torch

# So many products of int8 have a sum of at most 2^24: float32 holds each sum on the way, in any order.
_EXACT = 1024
# cuBLAS multiplies int8 if sizes are multiples of 8 and m is larger than 16.
_MULTIPLE, _LEAST = 8, 24


def reference(
    a: torch.Tensor,
    b: torch.Tensor,
    row_scale: torch.Tensor,
    col_scale: torch.Tensor,
    m: int,
    n: int,
    k: int,
) -> torch.Tensor:
    """out[m, n] = (a[m, k] @ b[k, n]) * row_scale[m, 1] * col_scale[1, n]."""
    sums = torch.zeros(m, n, dtype=torch.int32, device=a.device)
    for start in range(0, k, _EXACT):
        left, right = a[:, start : start + _EXACT], b[start : start + _EXACT]
        sums += (left.float() @ right.float()).int()
    return sums.to(row_scale.dtype) * row_scale[:, None] * col_scale[None, :]


def baseline(
    a: torch.Tensor,
    b: torch.Tensor,
    row_scale: torch.Tensor,
    col_scale: torch.Tensor,
    m: int,
    n: int,
    k: int,
) -> torch.Tensor:
    """The same on tensor cores. They want b by columns, and sizes that are multiples of 8."""
    if min(m, n, k) == 0:
        sums = torch.zeros(m, n, dtype=torch.int32, device=a.device)
    elif a.device.type == "cuda":
        more_n, more_k = -n % _MULTIPLE, -k % _MULTIPLE
        left = _padded(a, max(-m % _MULTIPLE, _LEAST - m), more_k)
        sums = torch._int_mm(left, _padded(b.t().contiguous(), more_n, more_k).t())[:m, :n]
    else:
        sums = torch._int_mm(a, b)
    return sums.to(row_scale.dtype) * row_scale[:, None] * col_scale[None, :]


def _padded(values: torch.Tensor, rows: int, columns: int) -> torch.Tensor:
    return torch.nn.functional.pad(values, (0, columns, 0, rows)) if rows > 0 or columns else values
