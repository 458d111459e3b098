"""CuTe DSL's own compiler, whose kernels run on the emulated GPU."""

from __future__ import annotations

import importlib.util

import pytest

from grader.challenge.catalogue import Catalogue
from grader.device_kinds import EMULATED
from grader.errors import BoxUnavailable
from grader.judge.at_home import judge_at_home
from grader.languages import Language
from grader.sandbox.local_box import LocalBoxes
from grader.schemas.report import CaseVerdict
from tests.components import need
from tests.languages.conftest import SLUG

# Through shared memory and a temporary tensor, with one compiled function of tensors, an integer and a float.
SOURCE = """import cutlass
import cutlass.cute as cute
import torch
from cutlass.cute.runtime import from_dlpack


@cute.kernel
def scale(x: cute.Tensor, out: cute.Tensor, n: cutlass.Int64, factor: cutlass.Float32):
    thread, block = cute.arch.thread_idx()[0], cute.arch.block_idx()[0]
    shared = cutlass.utils.SmemAllocator().allocate_tensor(cutlass.Float32, cute.make_layout(256))
    i = cutlass.Int64(block) * 256 + thread
    if i < n:
        shared[thread] = factor * x[i]
    cute.arch.sync_threads()
    if i < n:
        out[i] = shared[thread]


@cute.jit
def launch(x: cute.Tensor, out: cute.Tensor, n: cutlass.Int64, factor: cutlass.Float32):
    scale(x, out, n, factor).launch(grid=[(n + 255) // 256, 1, 1], block=[256, 1, 1])


compiled = {}


def solve(x, out, n):
    if n == 0:
        return
    kept = torch.empty_like(x)
    given = [from_dlpack(each).mark_layout_dynamic() for each in (x, kept, out)]
    if "launch" not in compiled:
        compiled["launch"] = cute.compile(launch, *given[:2], n, 2.0)
    compiled["launch"](*given[:2], n, 2.0)
    compiled["launch"](*given[1:], n, 1.0)
"""
_KERNEL = SOURCE[SOURCE.index("@cute.kernel") : SOURCE.index("compiled = {}")]


def _wrong(name: str, old: str, new: str) -> str:
    assert old in _KERNEL
    kernel = _KERNEL.replace(old, new).replace("scale(", f"scale_{name}(")
    return kernel.replace("def launch", f"def {name}").rstrip() + "\n\n\n"


# The same, but with a missing name, no barrier, and blocks that no GPU takes: each in the case of one size.
HALF_RIGHT = (
    SOURCE.replace("launch, *given", "{101: nameless, 333: racing, 1: large}.get(n, launch), *given").replace(
        '    if "launch" not in compiled:\n', "    if True:\n"
    )
    + "\n\n"
    + _wrong("nameless", "factor * x[i]", "factor * y[i]")
    + _wrong("racing", "    cute.arch.sync_threads()\n", "").replace(
        "= shared[thread]", "= shared[thread ^ 32]"
    )
    + _wrong("large", "block=[256,", "block=[2048,")
)


def test_it_runs_on_the_emulated_gpu_which_names_mistakes(catalogue: Catalogue) -> None:
    need("emulator")
    need("cutedsl")
    report = judge_at_home(
        catalogue.load(SLUG), HALF_RIGHT, Language.CUTE, LocalBoxes(), device=EMULATED, timing=False
    )
    cases = {case.name: case for case in report.cases}
    right = {name for name, case in cases.items() if case.verdict is CaseVerdict.ACCEPTED}
    assert right == cases.keys() - {"one", "prime", "secret"}, cases
    assert report.environment["box_cutlass"]
    assert "CuTe DSL cannot compile this: NameError in `nameless`: name 'y'" in cases["prime"].detail
    assert "\n    shared[thread] = factor * y[i]\n" in cases["prime"].detail
    assert "Nothing orders the two: put cute.arch.sync_threads() between them" in cases["secret"].detail
    assert "blocks of 2,048 threads: a block has at most 1,024" in cases["one"].detail


def test_a_machine_without_the_package_says_so(catalogue: Catalogue, monkeypatch: pytest.MonkeyPatch) -> None:
    find = importlib.util.find_spec
    hidden = Language.CUTE.package
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == hidden else find(name))
    need("emulator")
    with pytest.raises(BoxUnavailable, match="this machine has no CuTe DSL, which the language needs"):
        judge_at_home(
            catalogue.load(SLUG), SOURCE, Language.CUTE, LocalBoxes(), device=EMULATED, timing=False
        )
