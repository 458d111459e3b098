"""What Triton's interpreter makes of conversions in a box is what a GPU makes of them, and torch."""

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
from convert import convert

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
print("as torch")
"""
KERNEL = """
import triton
import triton.language as tl

@triton.jit
def convert(source, target, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(target + at, tl.load(source + at).to(target.dtype.element_ty))
"""


def test_conversions_are_those_of_a_gpu(tmp_path: Path) -> None:
    (tmp_path / "convert.py").write_text(KERNEL)
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
