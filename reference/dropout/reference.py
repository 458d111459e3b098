"""The contract of dropout: a hash of element number and seed decides what is dropped, bit for bit."""

import torch

_BITS = 0xFFFFFFFF
# 0x846ca68b less 2^32: the same product in 32 bits, and no overflow in 64.
_SECOND = 0x846CA68B - (1 << 32)


def mix(h: torch.Tensor) -> torch.Tensor:
    """A permutation of the 32-bit numbers, which h (int64) holds."""
    h = ((h ^ (h >> 16)) * 0x7FEB352D) & _BITS
    h = ((h ^ (h >> 15)) * _SECOND) & _BITS
    return h ^ (h >> 16)


def reference(x: torch.Tensor, p: float, seed: int, n: int) -> torch.Tensor:
    """out[n]: x[i] / (1 - p) if u(i) >= p, else 0; u(i) is a multiple of 2^-24 in [0, 1)."""
    number = torch.arange(1, n + 1, dtype=torch.int64, device=x.device)
    bits = mix(mix(number) ^ seed)
    # Numbers below 2^24 and p * 2^24 are exact in float32.
    kept = (bits >> 8) >= p * 2**24
    return torch.where(kept, x / (1 - p), 0.0)
