"""The contract of conv1d: PyTorch's convolution with one channel and no padding, in the precision of its inputs."""

import torch
from torch.nn import functional

# Up to so many weights, one pass over float64 values for each is several times as fast as PyTorch's convolution.
SHIFTED = 64


def reference(x: torch.Tensor, w: torch.Tensor, n: int, k: int) -> torch.Tensor:
    """out[max(n - k + 1, 0)]: out[i] = sum of x[i + t] * w[t] over 0 <= t < k; zeros where k = 0."""
    if k == 0 or n < k:
        # PyTorch takes neither: no weights make empty sums, too few values no result.
        return torch.zeros(max(n - k + 1, 0), dtype=x.dtype, device=x.device)
    if x.dtype is torch.float64 and k <= SHIFTED:
        out = torch.zeros(n - k + 1, dtype=x.dtype, device=x.device)
        for place in range(k):
            out.addcmul_(x[place : place + n - k + 1], w[place])
        return out
    # On a GPU, PyTorch's convolutions round float32 inputs to TF32 unless told otherwise.
    with torch.backends.cudnn.flags(enabled=True, allow_tf32=False):
        return functional.conv1d(x.view(1, 1, n), w.view(1, 1, k)).view(-1)


def magnitude(x: torch.Tensor, w: torch.Tensor, n: int, k: int) -> torch.Tensor:
    """The scale of each sum's rounding errors: the same sum over absolute values.

    In precision u a sum of k products is off by at most about k * u times that, in any order of summation
    (Higham, Accuracy and Stability of Numerical Algorithms, section 3.1): cancellation does not enter.
    """
    return reference(x.abs(), w.abs(), n, k)
