"""The contract of monte_carlo: Philox numbers by row and path; a price is the discounted mean of what the paths pay."""

import math
from collections.abc import Iterator
from functools import lru_cache

import torch

_BITS = 0xFFFFFFFF
# Philox's multipliers, less 2^32: products with 32-bit numbers then fit a signed 64-bit number.
_FIRST, _SECOND = 0xD2511F53 - (1 << 32), 0xCD9E8D57 - (1 << 32)
_BUMPS = 0x9E3779B9, 0xBB67AE85
_ROUNDS = 10
# Counters at a time: a core's cache holds these, and a GPU is busy with those.
_ON_CPU, _ON_GPU = 1 << 15, 1 << 22
# Normal numbers that are kept for the next call with the same sizes and seed, on a CPU: the judge asks many times.
_REMEMBERED = 1 << 21
# Errors grow with the prices of the paths that pay, and of those that rounding may make pay.
_NEARLY = 0.99


def philox(
    counter: tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor], key: tuple[int, int]
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    """Four words of 32 bits, in int64, of four such words (Philox4x32 with 10 rounds)."""
    c0, c1, c2, c3 = counter
    k0, k1 = key
    for _ in range(_ROUNDS):
        first, second = c0 * _FIRST, c2 * _SECOND
        c0, c2 = ((second >> 32) + c2) ^ c1 ^ k0, ((first >> 32) + c0) ^ c3 ^ k1
        c1, c3 = second & _BITS, first & _BITS
        k0, k1 = (k0 + _BUMPS[0]) & _BITS, (k1 + _BUMPS[1]) & _BITS
    return c0, c1, c2, c3


def normals(words: tuple[torch.Tensor, ...], dtype: torch.dtype) -> torch.Tensor:
    """[..., 4]: each two words make two normal numbers (Box-Muller)."""
    found = []
    for size, angle in (words[:2], words[2:]):
        radius = torch.sqrt(-2 * torch.log(((size >> 8) + 1).to(dtype) * 2.0**-24))
        turn = (angle >> 8).to(dtype) * (2 * math.pi * 2.0**-24)
        found += [radius * torch.cos(turn), radius * torch.sin(turn)]
    return torch.stack(found, dim=-1)


def reference(
    spot: torch.Tensor,
    strike: torch.Tensor,
    volatility: torch.Tensor,
    time: torch.Tensor,
    rate: float,
    seed: int,
    rows: int,
    paths: int,
) -> torch.Tensor:
    """out[rows]: exp(-rate * time) * mean of max(price at the end - strike, 0) over the paths; NaN without paths."""
    return _prices(strike, time, rate, paths, _ends(spot, volatility, time, rate, seed, paths, remember=True))


def baseline(
    spot: torch.Tensor,
    strike: torch.Tensor,
    volatility: torch.Tensor,
    time: torch.Tensor,
    rate: float,
    seed: int,
    rows: int,
    paths: int,
) -> torch.Tensor:
    """The same, and every call makes its numbers."""
    return _prices(strike, time, rate, paths, _ends(spot, volatility, time, rate, seed, paths))


def magnitude(
    spot: torch.Tensor,
    strike: torch.Tensor,
    volatility: torch.Tensor,
    time: torch.Tensor,
    rate: float,
    seed: int,
    rows: int,
    paths: int,
) -> torch.Tensor:
    """The scale of the errors: the mean of the prices that the strike is subtracted from."""
    out = torch.zeros_like(spot)
    for part, ends in _ends(spot, volatility, time, rate, seed, paths, remember=True):
        pays = ends > _NEARLY * strike[part, None]
        out[part] += torch.where(pays, ends.abs(), 0.0).sum(dim=1)
    return torch.exp(-rate * time) * out / max(paths, 1)


# Some rows, and for some of their paths the prices at the end, or the normal numbers.
Ends = Iterator[tuple[slice, torch.Tensor]]


def _prices(
    strike: torch.Tensor, time: torch.Tensor, rate: float, paths: int, all_ends: Ends
) -> torch.Tensor:
    out = torch.zeros_like(strike)
    for part, ends in all_ends:
        out[part] += ends.sub_(strike[part, None]).clamp_(min=0).sum(dim=1)
    return torch.exp(-rate * time) * (out / paths if paths else torch.full_like(out, math.nan))


def _ends(
    spot: torch.Tensor,
    volatility: torch.Tensor,
    time: torch.Tensor,
    rate: float,
    seed: int,
    paths: int,
    remember: bool = False,
) -> Ends:
    rows, device = len(spot), spot.device
    deviation = volatility / 100
    drift, spread = (rate - deviation * deviation / 2) * time, deviation * torch.sqrt(time)
    if remember and device.type == "cpu" and rows * paths <= _REMEMBERED:
        whole = _remembered(seed, rows, paths, spot.dtype)
        numbers = ((slice(0, rows), z) for z in whole.split(max(1, 4 * _ON_CPU // max(rows, 1)), dim=1))
    else:
        numbers = _numbers(seed, rows, paths, spot.dtype, device)
    for part, z in numbers:
        # In place: most of the time would go into new memory.
        yield part, torch.addcmul(drift[part, None], spread[part, None], z).exp_().mul_(spot[part, None])


@lru_cache(maxsize=2)
def _remembered(seed: int, rows: int, paths: int, dtype: torch.dtype) -> torch.Tensor:
    """[rows, paths]. They do not depend on the inputs, and take most of the time."""
    of_rows: dict[int, list[torch.Tensor]] = {}
    for part, z in _numbers(seed, rows, paths, dtype, torch.device("cpu")):
        of_rows.setdefault(part.start, []).append(z)
    return (
        torch.cat([torch.cat(z, dim=1) for z in of_rows.values()])
        if of_rows
        else torch.empty(rows, paths, dtype=dtype)
    )


def _numbers(seed: int, rows: int, paths: int, dtype: torch.dtype, device: torch.device) -> Ends:
    """Some rows, and the normal numbers of some of their paths, from the first path on."""
    groups = (paths + 3) // 4
    at_once = _ON_CPU if device.type == "cpu" else _ON_GPU
    wide = min(max(groups, 1), at_once)
    high = max(1, at_once // wide)
    for top in range(0, rows, high):
        part = slice(top, min(top + high, rows))
        row = torch.arange(part.start, part.stop, device=device)[:, None]
        zero = torch.zeros_like(row)
        for left in range(0, groups, wide):
            group = torch.arange(left, min(left + wide, groups), device=device)[None, :]
            z = normals(philox((group, row, zero, zero), (seed, 0)), dtype)
            yield part, z.flatten(1)[:, : paths - 4 * left]
