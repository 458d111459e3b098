"""The kernels that check the outputs of timed calls, in Triton's interpreter: the GPU runs the same source."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

# One element has a wrong value, one a wrong sign, one is never written; NaN and infinity are right if
# expected.
CHECK = """
import torch
from grader.challenge.tolerance import Allowance
from grader.judge.cuda import kernels
from grader.judge.worst import wrong_elements

COUNT, POISON = 1000, 0x7FC0DEAD
nan, inf = float("nan"), float("inf")
want = torch.arange(COUNT, dtype=torch.float32)
want[[3, 4, 5]] = torch.tensor([nan, inf, -inf])
got = want.clone()
got[7], got[500] = 7.5, -500.0
got.view(torch.int32)[999] = POISON
want[999] = nan

def check(
    counted=COUNT, spots=None, scale=None, tolerance=(1e-3, 1e-3), allowance=None, poison=POISON, got=got, want=want
):
    number = got.numel() if spots is None else spots.numel()
    suspects = torch.full((kernels.check_blocks(number, at_spots=spots is not None),), -1, dtype=torch.int32)
    seen = torch.empty(number, dtype=got.dtype)
    kernels.full_check(got, counted, want, scale, seen, suspects, allowance or Allowance(*tolerance), poison, spots)
    source = got if spots is None else got[spots]
    assert torch.equal(seen.view(torch.uint8), source.view(torch.uint8))
    assert suspects.min() >= 0
    return int(suspects.sum())

assert check() == 3
assert check(poison=None) == 2
assert check(counted=500) == 1
assert check(counted=501) == 2
assert check(tolerance=(0.6, 0.0)) == 2
assert check(scale=torch.full((COUNT,), 1e3)) == 2
everywhere = torch.arange(COUNT)
assert check(spots=everywhere) == 3
assert check(spots=everywhere, counted=8) == 1
assert check(spots=torch.tensor([999, 8, 9])) == 1
assert check(spots=torch.tensor([3, 4, 5, 6])) == 0
assert check(spots=torch.arange(0, COUNT, 500)) == 1
# Elements between padding, which is no element's value.
held = everywhere + everywhere // 10 * 3
padded = torch.full((1300,), 77.0)
padded[held] = got
seen, suspects = torch.empty(COUNT), torch.zeros(kernels.check_blocks(COUNT, at_spots=True), dtype=torch.int32)
kernels.full_check(padded, COUNT, want, None, seen, suspects, Allowance(1e-3, 1e-3), POISON, everywhere, held)
assert torch.equal(seen.view(torch.uint8), got.view(torch.uint8)) and int(suspects.sum()) == 3
# Where infinity is right, nothing finite is; and where bounds are infinite, infinity is not right.
finite = got.clone()
finite[[4, 5]] = torch.tensor([3e38, -7.0])
assert check(got=finite) == 5
finite = got.clone()
finite[800] = inf
assert check(got=finite, scale=torch.full((COUNT,), inf)) == 4
# A magnitude that is no number forgives nothing, and none that is negative asks for more.
for nothing in (inf, -inf, nan):
    assert check(scale=torch.full((COUNT,), nothing)) == check()
assert check(scale=torch.full((COUNT,), -1e3)) == check(scale=torch.full((COUNT,), 1e3))
# Bounds among denormal numbers, of which only two multiples of the smallest are within 4e-45, and none within 1.2e-45.
smallest = 2.0**-149
few = torch.arange(6) * smallest
assert check(got=few, want=few * 0, tolerance=(4e-45, 0.0)) == 3
assert check(got=few + 2.0**-126, want=few * 0 + 2.0**-126, tolerance=(0.0, 1e-7)) == 5
# Double precision, with an error that single precision does not show, and numbers that it does not hold.
wide = torch.linspace(1, 2, COUNT, dtype=torch.float64)
wide[:2] = torch.tensor([1e300, -1e200], dtype=torch.float64)
near, far = wide.clone(), wide.clone()
near[COUNT - 1] *= 1 + 3e-13
far[[0, COUNT - 1]] *= 1 + 1e-9
far.view(torch.int64)[7] = 0x7FF45AFEC0DEBEEF
for scale in (None, wide.abs()):
    exact = {"want": wide, "scale": scale, "tolerance": (1e-14, 1e-12), "poison": 0x7FF45AFEC0DEBEEF}
    assert (check(got=near, **exact), check(got=far, **exact)) == (0, 3)
whole = torch.arange(COUNT, dtype=torch.int64)
assert check(got=whole, want=whole.clone(), poison=None) == 0
assert check(got=whole, want=whole.clone().index_fill_(0, torch.tensor([2]), 3), poison=None, spots=everywhere) == 1
# Units in the last place and steps: no wrong element is missed, and few right ones are compared again.
for dtype, digits, least in ((torch.float32, 24, -126), (torch.float16, 11, -14), (torch.float64, 53, -1022)):
    right = torch.tensor([1.0, 1.5, 2.0, 3e-5, 0.0, 2.0**-14, 1e4, -7.0]).to(dtype)
    word = {2: torch.int16, 4: torch.int32, 8: torch.int64}[right.element_size()]
    for ulps in (2, 3):
        allowed = Allowance(ulps=ulps, digits=digits, least_exponent=least)
        for off in (-ulps - 1, 1 - ulps, ulps - 1, ulps + 1):
            moved = (right.view(word) + off).view(dtype)
            moved[4] = abs(off) * 2.0 ** (least + 1 - digits)
            sure = int(wrong_elements(moved, right, allowed).sum())
            found = check(got=moved, want=right, allowance=allowed, poison=None)
            assert sure <= found <= sure + (dtype is torch.float64), (dtype, ulps, off, sure, found)
edges = torch.tensor([0, 5, 2**62, -(2**63), 2**63 - 1])
moved = torch.tensor([2, 8, 2**62 - 1, 2**63 - 1, 2**63 - 2])
assert check(got=moved, want=edges, allowance=Allowance(steps=2), poison=None) == 2
small, moved = torch.tensor([[0, 255, 128], [1, 253, 0]], dtype=torch.uint8)
assert check(got=moved, want=small, allowance=Allowance(steps=1), poison=None) == 2
print("checked")
"""


# Floats are compared by their bits: NaN equals itself, and the two zeros differ.
DIFFER = """
import torch
from grader.judge.cuda import kernels

COUNT = 5000
one = torch.arange(COUNT, dtype=torch.float32)
one[:3] = torch.tensor([float("nan"), 0.0, float("inf")])

def differ(one, other):
    numbers = torch.full((kernels.check_blocks(one.numel()),), -1, dtype=torch.int32)
    kernels.differ(one, other, numbers)
    return numbers.tolist()

assert differ(one, one.clone()) == [0, 0]
assert differ(one, one.index_fill(0, torch.tensor([1]), -0.0)) == [1, 0]
assert differ(one, one.index_fill(0, torch.tensor([1, COUNT - 1]), 7.0)) == [1, 1]
for dtype in (torch.uint8, torch.bool, torch.float16, torch.int64, torch.float64):
    whole = (one.nan_to_num(0) > 0).to(dtype)
    other = whole.clone()
    other[COUNT - 2] = 1 - other[COUNT - 2].to(torch.uint8)
    assert differ(whole, whole.clone()) == [0, 0] and differ(whole, other) == [0, 1]
    assert kernels.same_bits(whole, whole.clone()) and not kernels.same_bits(whole, other)
# Not aligned to anything, as what comes behind an array may be.
some = torch.arange(256, dtype=torch.uint8).repeat(20)
assert differ(some[3:], some[3:].clone()) == [0, 0]
assert differ(some[3:-1], some[4:]) == [4096, 1020]
assert differ(some[:0], some[:0]) == []
print("compared")
"""


def _interpreted(program: str) -> str:
    """In a separate process: the interpreter is chosen before Triton is imported."""
    environment = {**os.environ, "TRITON_INTERPRET": "1", "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        env=environment,
        cwd=ROOT,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_check_counts_wrong_elements_everywhere_or_at_given_spots() -> None:
    assert _interpreted(CHECK) == "checked\n"


def test_differing_elements_are_counted_by_their_bits() -> None:
    assert _interpreted(DIFFER) == "compared\n"
