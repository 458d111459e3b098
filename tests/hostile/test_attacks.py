"""Every attack and control of the suite that runs on a CPU, in the box that servers use, and the host counted around
them, and those on the emulated GPU alone. Those on a GPU run there by `make hostile`; here it is seen that they
compile."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from grader.challenge.catalogue import Catalogue
from grader.challenge.signature import cuda_footer
from grader.judge.host_device import EmulatedDevice
from grader.judge.launch import submission_spec
from grader.languages import Language
from grader.sandbox.box import BoxMaker
from grader.sandbox.compiler.nvcc import CompileRequest, compile_cuda
from grader.sandbox.forked_box import ForkedBoxes
from grader.sandbox.pool import SpareBoxes
from tests.components import need
from tests.hostile.conftest import parameters
from tests.hostile.host_state import settled, take
from tests.hostile.range import CATALOGUE, QuickHost, Range
from tests.hostile.suite import CONTROL, SURFACES, Entry, load

ENTRIES = load()
# Attacks on the compiler and the box have separate tests: they need boxes without others.
OF_BOXES = ("compile", "box")
ON_CPU = [entry for entry in ENTRIES if "cpu" in entry.devices and entry.surface not in OF_BOXES]
# What needs walls is left to `make hostile`.
ON_EMULATED = [entry for entry in ENTRIES if "emulated" in entry.devices and not entry.walls_only]
CUDA = [entry for entry in ENTRIES if entry.language is Language.CUDA and entry.surface not in OF_BOXES]
# What is wrong or right about these is what they compute, which any box shows: they are judged in forked ones, which
# start in milliseconds. The full matrix judges the honest ones also where servers do, whose walls must not stop them.
OF_VALUES = ("specification", CONTROL)
IN_DOCKER = [entry for entry in ON_CPU if entry.surface != "specification"]
FEWEST_ATTACKS, FEWEST_CONTROLS = 60, 12
# One is judged while the next one's box starts.
SPARE_BOXES = 1


def test_there_are_as_many_as_we_say() -> None:
    controls = [entry for entry in ENTRIES if entry.surface == CONTROL]
    assert len(controls) >= FEWEST_CONTROLS
    assert len(ENTRIES) - len(controls) >= FEWEST_ATTACKS
    assert {entry.surface for entry in ENTRIES} >= {*SURFACES, CONTROL} - {*OF_BOXES}
    assert len({entry.name for entry in ENTRIES}) == len(ENTRIES)


@pytest.fixture(scope="module")
def range_() -> Iterator[Range]:
    need("docker")
    from grader.sandbox.choose import make_boxes

    maker = make_boxes("docker")
    before = take([CATALOGUE])
    device = QuickHost()
    memory = Catalogue(CATALOGUE).load("twice").manifest.limits.memory_bytes
    pool = SpareBoxes(maker, submission_spec(device, Language.TRITON, memory), SPARE_BOXES)
    pool.refill()
    yield Range(pool, device)
    pool.close()
    maker.reap()
    assert settled(before, [CATALOGUE]).changed_since(before) == {}, "the suite changed the host"


@pytest.mark.docker
@pytest.mark.parametrize("entry", parameters(IN_DOCKER, matrix=lambda entry: entry.surface == CONTROL))
def test_no_attack_gets_through_and_no_control_is_refused(entry: Entry, range_: Range) -> None:
    """Protects verdicts, times and hidden data against submissions that attack the judge, and honest kernels against a
    judge that is too strict.
    """
    assert isinstance(range_.boxes, SpareBoxes)
    range_.boxes.refill()
    finding = range_.judge(entry)
    assert not finding.failed, finding


@pytest.fixture(scope="module")
def forked() -> Iterator[Range]:
    boxes = ForkedBoxes()
    yield Range(boxes, QuickHost())
    boxes.close()


@pytest.mark.parametrize("entry", parameters(entry for entry in ON_CPU if entry.surface in OF_VALUES))
def test_no_wrong_kernel_is_accepted_and_no_right_one_refused(entry: Entry, forked: Range) -> None:
    """Protects boards against kernels that compute something else than the specification says."""
    finding = forked.judge(entry)
    assert not finding.failed, finding


@pytest.mark.parametrize(
    "entry", parameters(ON_EMULATED, matrix=lambda entry: entry.language is Language.CUDA)
)
def test_no_attack_on_the_emulated_gpu_gets_through(entry: Entry, boxes: BoxMaker) -> None:
    need("emulator")
    need("nvcc")
    finding = Range(boxes, EmulatedDevice()).judge(entry)
    assert not finding.failed, finding


@pytest.mark.parametrize("entry", parameters(CUDA))
def test_what_runs_on_a_gpu_compiles_here(entry: Entry, boxes: BoxMaker) -> None:
    """Protects the suite against attacks that end on a GPU because they do not compile."""
    need("nvcc")
    footer = cuda_footer(Catalogue(CATALOGUE).load("twice").manifest)
    compiled = compile_cuda(boxes, CompileRequest(entry.source, footer))
    assert compiled.ok, compiled.log
