"""The contract of gelu: PyTorch's own GELU in its exact form, x * Phi(x) with Phi the normal distribution function."""

import torch

_SQRT_HALF = 0.5**0.5


def reference(x: torch.Tensor, n: int) -> torch.Tensor:
    """out[n] = x / 2 * (1 + erf(x / sqrt 2)). +inf stays +inf; -inf and NaN give NaN."""
    if x.device.type == "cpu":
        # The fused kernel of the CPU gives NaN for +inf and overflows near the largest float32; on a GPU it does not.
        return 0.5 * x * (1 + torch.erf(x * _SQRT_HALF))
    return torch.nn.functional.gelu(x)


def magnitude(x: torch.Tensor, n: int) -> torch.Tensor:
    """The scale of the rounding errors: |x|, which 1 + erf is multiplied by after it has cancelled."""
    return x.abs()
