"""The judge's kernels. They use the SMs, so a submission's work outside the gate competes with them and shows."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from grader.challenge.dtypes import BITS
from grader.challenge.tolerance import Allowance

_BLOCK = 4096
# Spot checks must occupy the whole GPU.
_SPOTS_BLOCK = 256
# Slightly too strict: suspects are compared again exactly.
_STRICT = 1.0 - 1e-5
# Of a normal number in single precision.
_LEAST_EXPONENT = -126

_BITS: dict[int, torch.dtype] = {size: getattr(torch, name) for size, name in BITS.items()}


@triton.jit
def _copy(source, target, count, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < count
    tl.store(target + offsets, tl.load(source + offsets, mask=mask), mask=mask)


# The count changes between rounds. Specialised on it, Triton may load another kernel, which may wait forever for the
# held stream (grader.judge.watchdog).
@triton.jit(do_not_specialize=["counted"])
def _full_check(
    got,
    bits,
    want,
    scale,
    spots,
    held,
    snapshot,
    suspects,
    count,
    counted,
    atol,
    rtol,
    ulps,
    steps,
    poison,
    FLOATING: tl.constexpr,
    WIDE: tl.constexpr,
    SMALLEST: tl.constexpr,
    ULPS: tl.constexpr,
    STEPS: tl.constexpr,
    SCALED: tl.constexpr,
    POISONED: tl.constexpr,
    AT_SPOTS: tl.constexpr,
    PADDED: tl.constexpr,
    BLOCK: tl.constexpr,
):
    places = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = places < count
    offsets = places
    if AT_SPOTS:
        offsets = tl.load(spots + places, mask=mask, other=0)
    where = offsets
    if PADDED:
        where = tl.load(held + places, mask=mask, other=0)
    found = tl.load(got + where, mask=mask, other=0)
    right = tl.load(want + offsets, mask=mask, other=0)
    tl.store(snapshot + places, found, mask=mask)
    if FLOATING:
        if not WIDE:
            found = found.to(tl.float32)
            right = right.to(tl.float32)
        size = tl.abs(right)
        if SCALED:
            given = tl.abs(tl.load(scale + offsets, mask=mask, other=0).to(right.dtype))
            size = tl.where(given < float("inf"), given, size)  # see ``allowed_error``
        # Infinity is within infinite bounds of anything.
        finite = (tl.abs(found) < float("inf")) & (tl.abs(right) < float("inf"))
        # Not equal: a bound among denormal numbers may have been rounded up.
        allowed = atol + rtol * size
        if ULPS:
            # The largest power of two up to the size; 0 for denormals.
            if WIDE:
                power = (size.to(tl.int64, bitcast=True) & 0x7FF0000000000000).to(tl.float64, bitcast=True)
            else:
                power = (size.to(tl.int32, bitcast=True) & 0x7F800000).to(tl.float32, bitcast=True)
                power = tl.maximum(power, SMALLEST)
            allowed += ulps * power
        near = finite & (tl.abs(found - right) < allowed)
        wrong = (near | (found == right) | ((found != found) & (right != right))) == 0
        if POISONED:
            wrong = wrong | (tl.load(bits + where, mask=mask, other=0) == poison)
    elif STEPS:
        apart = tl.maximum(found, right).to(tl.int64) - tl.minimum(found, right).to(tl.int64)
        wrong = (apart < 0) | (apart > steps)
    else:
        wrong = found != right
    number = tl.sum((wrong & mask & (offsets < counted)).to(tl.int32), axis=0)
    tl.store(suspects + tl.program_id(0), number)


def copy(source: torch.Tensor, target: torch.Tensor) -> None:
    """Tensors are flat, contiguous, of one dtype. Uses no copy engine."""
    count = source.numel()
    if count:
        width = _BITS[source.element_size()]
        _copy[(triton.cdiv(count, _BLOCK),)](source.view(width), target.view(width), count, BLOCK=_BLOCK)


def check_blocks(count: int, *, at_spots: bool = False) -> int:
    return -(-count // (_SPOTS_BLOCK if at_spots else _BLOCK))


def full_check(
    got: torch.Tensor,
    counted: int,
    want: torch.Tensor,
    scale: torch.Tensor | None,
    snapshot: torch.Tensor,
    suspects: torch.Tensor,
    allowance: Allowance,
    poison: int | None,
    spots: torch.Tensor | None = None,
    held: torch.Tensor | None = None,
) -> None:
    """Copy ``got`` to ``snapshot``; write each block's number of possibly wrong elements to ``suspects`` (int32).

    All flat and on the GPU; enqueues, always one pass. ``counted``: leading elements that count. ``scale``: float32, or
    float64 for a float64 result; ``poison``: the bits of "never written"; ``spots`` (int64): check only these places in
    ``want``; ``held`` (int64): their places in a padded ``got``.
    """
    count = got.numel() if spots is None else spots.numel()
    if not count:
        return
    floating = got.is_floating_point()
    atol, rtol = allowance.atol * _STRICT, allowance.rtol * _STRICT
    # A float is at most two powers of two.
    ulps = allowance.ulps * 2.0 ** (1 - allowance.digits) * _STRICT
    _full_check[(check_blocks(count, at_spots=spots is not None),)](
        got,
        got.view(_BITS[got.element_size()]),
        want,
        scale if scale is not None else want,
        spots if spots is not None else suspects,
        held if held is not None else suspects,
        snapshot,
        suspects,
        count,
        counted,
        atol,
        rtol,
        ulps,
        allowance.steps,
        poison if poison is not None else 0,
        FLOATING=floating,
        WIDE=got.dtype == torch.float64,
        SMALLEST=2.0 ** max(allowance.least_exponent, _LEAST_EXPONENT),
        ULPS=bool(floating and allowance.ulps),
        STEPS=bool(not floating and allowance.steps),
        SCALED=scale is not None,
        POISONED=poison is not None,
        AT_SPOTS=spots is not None,
        PADDED=held is not None,
        BLOCK=_BLOCK if spots is None else _SPOTS_BLOCK,
    )


@triton.jit
def _differ(first, second, numbers, count, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < count
    differs = tl.load(first + offsets, mask=mask, other=0) != tl.load(second + offsets, mask=mask, other=0)
    tl.store(numbers + tl.program_id(0), tl.sum((differs & mask).to(tl.int32), axis=0))


def differ(first: torch.Tensor, second: torch.Tensor, numbers: torch.Tensor) -> None:
    """Write each block's number of differing elements to ``numbers`` (int32, ``check_blocks`` of them). Enqueues."""
    count = first.numel()
    if count:
        width = _BITS[first.element_size()]
        _differ[(check_blocks(count),)](first.view(width), second.view(width), numbers, count, BLOCK=_BLOCK)


def same_bits(first: torch.Tensor, second: torch.Tensor) -> bool:
    """Tensors are flat, of one dtype and size."""
    numbers = torch.zeros(check_blocks(first.numel()), dtype=torch.int32, device=first.device)
    differ(first, second, numbers)
    return not numbers.any().item()


@triton.jit
def _stream_copy(source, target, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    tl.store(target + offsets, tl.load(source + offsets))


@triton.jit
def _stream_add(first, second, target, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    tl.store(target + offsets, tl.load(first + offsets) + tl.load(second + offsets))


@triton.jit
def _stream_read(source, target, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    tl.store(target + tl.program_id(0), tl.sum(tl.load(source + offsets), axis=0))


Shape = tuple[int, int]


def stream_copy(source: torch.Tensor, target: torch.Tensor, shape: Shape) -> None:
    """For memory's ceiling. ``shape``: block (divides the size) and warps."""
    _stream_copy[(source.numel() // shape[0],)](source, target, BLOCK=shape[0], num_warps=shape[1])


def stream_add(first: torch.Tensor, second: torch.Tensor, target: torch.Tensor, shape: Shape) -> None:
    _stream_add[(first.numel() // shape[0],)](first, second, target, BLOCK=shape[0], num_warps=shape[1])


def stream_read(source: torch.Tensor, target: torch.Tensor, shape: Shape) -> None:
    _stream_read[(source.numel() // shape[0],)](source, target, BLOCK=shape[0], num_warps=shape[1])


@triton.jit
def _spin(target, rounds, BLOCK: tl.constexpr):
    values = tl.load(target + tl.arange(0, BLOCK))
    for _ in range(rounds):
        values = values * 1.0000001 + 0.5
    tl.store(target + tl.arange(0, BLOCK), values)


class Burn:
    """Runs before every reveal, so clocks are equally high for everyone."""

    def __init__(self, device: torch.device, rounds: int = 20_000, programs: int = 132) -> None:
        self._values = torch.zeros(1024, device=device)
        self._rounds, self._programs = rounds, programs

    def run(self) -> None:
        _spin[(self._programs,)](self._values, self._rounds, BLOCK=1024)
