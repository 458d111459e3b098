"""Attacks and controls for a GPU: the emulated one's are judged here; the others run on a GPU by `make
hostile`, and compile here.
"""

from __future__ import annotations

import pytest

from grader.challenge.catalogue import Catalogue
from grader.challenge.signature import cuda_footer
from grader.judge.host_device import EmulatedDevice
from grader.languages import Language
from grader.sandbox.box import BoxMaker
from grader.sandbox.compiler.nvcc import CompileRequest, compile_cuda
from tests.components import need
from tests.hostile.conftest import parameters
from tests.hostile.range import CATALOGUE, Range
from tests.hostile.suite import OF_BOXES, Entry, load

ENTRIES = load()
# Entries that need walls are left to `make hostile`.
ON_EMULATED = [entry for entry in ENTRIES if "emulated" in entry.devices and not entry.walls_only]
# Those for the emulated GPU compile when they are judged.
CUDA = [
    entry
    for entry in ENTRIES
    if entry.language is Language.CUDA and entry.surface not in OF_BOXES and entry not in ON_EMULATED
]


@pytest.mark.parametrize(
    "entry", parameters(ON_EMULATED, in_turn=lambda entry: entry.language is Language.CUDA)
)
def test_no_attack_on_the_emulated_gpu_gets_through(entry: Entry, boxes: BoxMaker) -> None:
    need("emulator")
    need("nvcc")
    finding = Range(boxes, EmulatedDevice()).judge(entry)
    assert not finding.failed, finding


@pytest.mark.parametrize("entry", parameters(CUDA))
def test_what_runs_on_a_gpu_compiles_here(entry: Entry, boxes: BoxMaker) -> None:
    """Protects against attacks that end on a GPU only because they do not compile."""
    need("nvcc")
    footer = cuda_footer(Catalogue(CATALOGUE).load("twice").manifest)
    compiled = compile_cuda(boxes, CompileRequest(entry.source, footer))
    assert compiled.ok, compiled.log
