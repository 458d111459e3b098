"""Triton's interpreter in a box rounds to bfloat16 and 8 bits, and in products to TF32, like a GPU."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

PROGRAM = """
import triton_loader
triton_loader.prepare_interpreter()
import torch
from kernels import compute, convert, multiply, put, sums

torch.manual_seed(1)
special = [float("nan"), float("inf"), -float("inf"), 0.0, -0.0, 3.4e38, 1 + 2**-8, 1 + 3 * 2**-8]
values = torch.randn(4096) * torch.exp2(torch.randint(-140, 127, (4096,)).float())
values[: len(special)] = torch.tensor(special)
kinds = (torch.float32, torch.float64, torch.bfloat16, torch.float16, torch.int32)
for given in kinds:
    source = (values if given.is_floating_point else torch.randint(-1000, 1000, (4096,))).to(given)
    for wanted in kinds if given.is_floating_point else kinds[:-1]:
        if not wanted.is_floating_point:
            source = torch.randint(-99, 99, (4096,)).to(given)
        made = torch.zeros(4096, dtype=wanted)
        convert[(1,)](source, made, BLOCK=4096)
        assert torch.equal(made.nan_to_num(7), source.to(wanted).nan_to_num(7)), (given, wanted)
        assert torch.equal(made.isnan(), source.to(wanted).isnan()), (given, wanted)

for kind, most in ((torch.float8_e4m3fn, 448.0), (torch.float8_e5m2, 57344.0)):
    codes = torch.arange(4096).to(torch.uint8).view(kind)
    for other in (torch.float32, torch.float16, torch.bfloat16):
        made = torch.zeros(4096, dtype=other)
        convert[(1,)](codes, made, BLOCK=4096)
        assert torch.equal(made.nan_to_num(7), codes.to(other).nan_to_num(7)), (kind, other)
        source, made = (values * 0.01).to(other), torch.zeros(4096, dtype=kind)
        convert[(1,)](source, made, BLOCK=4096)
        want = source.float().clamp(-most, most).to(kind)
        assert torch.equal(made.float().nan_to_num(7), want.float().nan_to_num(7)), (other, kind)
        assert torch.equal(made.isnan(), source.isnan())

x, y = torch.randn(2, 4096).bfloat16()
x[:3] = torch.tensor([float("nan"), -float("inf"), 1e-40])
made = torch.zeros(7, 4096, dtype=torch.bfloat16)
compute[(1,)](x, y, made, BLOCK=4096)
fused = (x.float() * y.float() + y.float()).bfloat16()
want = torch.stack((x + y, x * y, -x, torch.where(x > y, x, y), (x > 0).bfloat16(), x.abs(), fused))
assert torch.equal(made.nan_to_num(7), want.nan_to_num(7)), (made.nan_to_num(7) != want.nan_to_num(7)).nonzero()
left, right, made = torch.randn(16, 32).bfloat16(), torch.randn(32, 16).bfloat16(), torch.zeros(16, 16)
multiply[(1,)](left, right, made)
torch.testing.assert_close(made, left.float() @ right.float())

wide = torch.zeros(1, dtype=torch.int64) - 1
put[(1,)](4_294_967_290, wide)
assert int(wide) == 4_294_967_290

left, right = torch.randn(16, 32), torch.randn(32, 16)
cut = [(side.view(torch.int32) & -0x2000).view(torch.float32) for side in (left, right)]
multiply[(1,)](left, right, made)
torch.testing.assert_close(made, cut[0] @ cut[1], rtol=1e-6, atol=1e-6)
assert (made - left @ right).abs().max() > 1e-4

from triton.runtime import interpreter
prepared, prepare = [], interpreter._patch_builtin
interpreter._patch_builtin = lambda *given: (prepared.append(given), prepare(*given))
made = torch.zeros(3)
sums[(3,)](x.float(), made, COUNT=50)
torch.testing.assert_close(made, 50 * x[:64].float().nan_to_num(0, 0, 0).sum().expand(3))
assert 0 < len(prepared) < 20, f"150 sums prepare Triton's modules {len(prepared)} times"
print("as torch")
"""
KERNELS = """
import triton
import triton.language as tl

@triton.jit
def convert(source, target, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(target + at, tl.load(source + at).to(target.dtype.element_ty))

@triton.jit
def compute(first, second, target, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    x, y = tl.load(first + at), tl.load(second + at)
    tl.store(target + at, x + y)
    tl.store(target + BLOCK + at, x * y)
    tl.store(target + 2 * BLOCK + at, -x)
    tl.store(target + 3 * BLOCK + at, tl.where(x > y, x, y))
    tl.store(target + 4 * BLOCK + at, (x > 0).to(tl.bfloat16))
    tl.store(target + 5 * BLOCK + at, tl.abs(x))
    tl.store(target + 6 * BLOCK + at, tl.fma(x, y, y))

@triton.jit
def sums(source, made, COUNT: tl.constexpr):
    values = tl.load(source + tl.arange(0, 64))
    values = tl.where(tl.abs(values) < 1e30, values, 0)
    total = 0.0
    for _ in range(COUNT):
        total += tl.sum(values, axis=0)
    tl.store(made + tl.program_id(0), total)


@triton.jit
def put(number, made):
    tl.store(made, number)


@triton.jit
def multiply(left, right, target):
    rows, middle = tl.arange(0, 16)[:, None], tl.arange(0, 32)
    one = tl.load(left + rows * 32 + middle[None, :])
    two = tl.load(right + middle[:, None] * 16 + tl.arange(0, 16)[None, :])
    tl.store(target + rows * 16 + tl.arange(0, 16)[None, :], tl.dot(one, two))
"""


def test_interpreted_floats_round_as_on_a_gpu(tmp_path: Path) -> None:
    (tmp_path / "kernels.py").write_text(KERNELS)
    path = os.pathsep.join((str(ROOT / "sandbox" / "runner"), str(tmp_path)))
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", PROGRAM],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1"},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "as torch\n"
