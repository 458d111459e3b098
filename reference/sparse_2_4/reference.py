"""The contract of sparse_2_4: the product of a matrix that keeps two of each four neighbours and a dense one."""

import torch

# By default PyTorch lets cuBLAS split a long sum and add the parts in float16.
torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction = False

# What float32 sums may be off by, as a share of the terms' absolute sum: this share times rtol is the 8e-6 that a
# product in float32 is allowed. The rounding of the result comes on top.
_TERMS = 1 / 256
# Groups that are restored at a time: int64 places of a large matrix take four times as much memory as its values.
_PART = 1 << 24


def reference(
    values: torch.Tensor, places: torch.Tensor, b: torch.Tensor, m: int, n: int, words: int
) -> torch.Tensor:
    """out[m, n] = a @ b, rounded to float16 (infinite from 65520 on); a[m, 32 * words] has 0 where nothing is kept."""
    return _restored(values, places) @ b


def magnitude(
    values: torch.Tensor, places: torch.Tensor, b: torch.Tensor, m: int, n: int, words: int
) -> torch.Tensor:
    """The scale of the errors: |a @ b| for the rounding of the result, and a share of |a| @ |b| for that of the sum."""
    left = _restored(values, places)
    return (left @ b).abs() + _TERMS * (left.abs() @ b.abs())


def _restored(values: torch.Tensor, places: torch.Tensor) -> torch.Tensor:
    """The dense matrix: four bits of ``places`` for each group of four columns, the lower four of a byte first."""
    rows, groups = places.shape[0], 2 * places.shape[1]
    dense = values.new_zeros((rows, groups, 4))
    at_once = max(1, _PART // max(1, groups))
    for row in range(0, rows, at_once):
        byte = places[row : row + at_once].long()
        where = torch.stack((byte & 3, byte >> 2 & 3, byte >> 4 & 3, byte >> 6), dim=2)
        part = where.shape[0]
        kept = values[row : row + at_once].reshape(part, groups, 2)
        dense[row : row + at_once].scatter_add_(2, where.reshape(part, groups, 2), kept)
    return dense.reshape(rows, 4 * groups)
