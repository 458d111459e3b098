"""The contract of conv2d: PyTorch's convolution with one channel and no padding, in the precision of its inputs."""

import torch
from torch.nn import functional

# Up to so many weights, one pass over float64 values for each is several times as fast as PyTorch's convolution.
SHIFTED = 64


def reference(x: torch.Tensor, w: torch.Tensor, h: int, width: int, kh: int, kw: int) -> torch.Tensor:
    """out[max(h - kh + 1, 0), max(width - kw + 1, 0)]: the sums of x[r + i, c + j] * w[i, j]; zeros without weights."""
    rows, columns = max(h - kh + 1, 0), max(width - kw + 1, 0)
    if w.numel() == 0 or rows == 0 or columns == 0:
        # PyTorch takes neither: no weights make empty sums, too small an image no result.
        return torch.zeros(rows, columns, dtype=x.dtype, device=x.device)
    if x.dtype is torch.float64 and kh * kw <= SHIFTED:
        out = torch.zeros(rows, columns, dtype=x.dtype, device=x.device)
        for i in range(kh):
            for j in range(kw):
                out.addcmul_(x[i : i + rows, j : j + columns], w[i, j])
        return out
    # On a GPU, PyTorch's convolutions round float32 inputs to TF32 unless told otherwise.
    with torch.backends.cudnn.flags(enabled=True, allow_tf32=False):
        return functional.conv2d(x.view(1, 1, h, width), w.view(1, 1, kh, kw)).view(rows, columns)


def magnitude(x: torch.Tensor, w: torch.Tensor, h: int, width: int, kh: int, kw: int) -> torch.Tensor:
    """The scale of each sum's rounding errors: the same sum over absolute values.

    In precision u a sum of k products is off by at most about k * u times that, in any order of summation
    (Higham, Accuracy and Stability of Numerical Algorithms, section 3.1): cancellation does not enter.
    """
    return reference(x.abs(), w.abs(), h, width, kh, kw)
