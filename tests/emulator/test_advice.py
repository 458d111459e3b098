"""The right advice comes first for kernels that are slow for one reason; the better ones gain as promised."""

from __future__ import annotations

import ctypes
import random
import struct
import subprocess
from pathlib import Path

import pytest

from grader.challenge.catalogue import find_catalogue
from grader.judge.at_home import profile_at_home
from grader.languages import Language
from grader.sandbox.emulator.device import Device, HostProcess
from grader.sandbox.emulator.engine import NOTHING, Engine
from grader.sandbox.emulator.fatbin import machine_codes, section_of
from grader.sandbox.emulator.spills import spills_of, spills_of_code
from grader.sandbox.forked_box import ForkedBoxes
from grader.sandbox.toolkit import cuda_home
from grader.schemas.call_profile import CallProfile
from grader.schemas.profile_advice import hints_of
from grader.schemas.side_by_side import side_by_side
from tests.components import need
from tests.emulator.conftest import FOLDER

SOURCE = FOLDER / "slow.cu"
# By pair of slow.cu: the kind of the first advice, and the word that marks its line; empty: the whole kernel.
PAIRS = (
    ("coalescing", "uncoalesced"), ("banks", "banks"), ("divergence", "divergence"), ("reuse", "reuse"),
    ("spills", "spills"), ("few blocks", ""), ("tail", ""), ("atomics", "atomics"), ("launches", ""),
    ("division", "division"), ("occupancy", ""), ("small blocks", ""), ("coalescing", "chunks"),
    ("local memory", "local"), ("divergence", "tree"),
)  # fmt: skip
ELEMENTS = 1 << 20
# Of its three arrays; reuse asks how often a whole array is read.
ELEMENTS_OF = {"reuse": 704 * 704}
TRITON = """import triton
import triton.language as tl


@triton.jit
def add(a, b, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(a + i, mask=i < n) + tl.load(b + i, mask=i < n), mask=i < n)


def solve(a, b, out, n):
    if n:
        add[(triton.cdiv(n, 32),)](a, b, out, n, BLOCK=32)
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With machine code, too, as the judge compiles: it has the registers."""
    need("nvcc")
    home, made = cuda_home(), tmp_path_factory.mktemp("slow") / "slow.so"
    assert home is not None
    subprocess.run(
        [
            home / "bin" / "nvcc", "-shared", "-Xcompiler", "-fPIC", "-O3", "-std=c++17", "-lineinfo", "-cudart",
            "none", "--compress-mode=none", "-gencode=arch=compute_90a,code=[compute_90a,sm_90a]", "-o", made, SOURCE,
        ],
        check=True,
    )  # fmt: skip
    return made


def profiled(library: Path, entry: int, elements: int = ELEMENTS) -> CallProfile:
    engine = Engine(1)
    engine.check = NOTHING
    device = Device(engine)
    arrays = [(ctypes.c_float * elements)() for _ in range(3)]
    values = [struct.pack("<i", entry)]
    for name, array in zip(("a", "b", "out"), arrays, strict=True):
        address = device.adopt(ctypes.addressof(array), 4 * elements, name, written=True)
        values.append(struct.pack("<Q", address))
    host = HostProcess(device, library)
    try:
        returned = host.call(values, counted=True)
    finally:
        host.close()
        engine.close()
    assert (returned.code, returned.fault, returned.unsupported) == (0, None, None)
    return CallProfile.model_validate(returned.profile)


def line_of(mark: str) -> int:
    return next(
        number
        for number, text in enumerate(SOURCE.read_text().splitlines(), 1)
        if text.endswith(f"// slow: {mark}")
    )


@pytest.mark.parametrize("pair", range(len(PAIRS)), ids=[f"{kind} {mark}".strip() for kind, mark in PAIRS])
def test_the_right_advice_comes_first_and_gains_what_it_promises(library: Path, pair: int) -> None:
    kind, mark = PAIRS[pair]
    slow, better = (profiled(library, 2 * pair + which, ELEMENTS_OF.get(kind, ELEMENTS)) for which in (0, 1))
    hints = hints_of(slow)
    assert 1 <= len(hints) <= 3
    assert (hints[0].kind, hints[0].line) == (kind, line_of(mark) if mark else 0)
    gained = slow.time_us - better.time_us
    assert gained > 0
    assert 0.7 < hints[0].us / gained < 1.3
    explained = side_by_side((better, slow), ("your kernel", "the other"))
    assert explained.sentence.startswith("The other takes ")
    assert hints[0].text.partition(" (")[0].rpartition(": ")[2] in explained.sentence
    assert (explained.slower, explained.line) == (1, hints[0].line)
    if better_hints := hints_of(better):
        assert better_hints[0].us < 0.6 * hints[0].us


def test_spills_are_found_in_machine_code_by_line(library: Path) -> None:
    found = spills_of(section_of(library.read_bytes()))
    (spilled,) = (lines for name, lines in found.items() if "rotate_spilled" in name)
    assert not any("rotate_kept" in name for name in found)
    assert max(spilled, key=lambda line: spilled[line]) == line_of("spills")
    (kernel,) = profiled(library, 8).kernels
    assert kernel.spilled_bytes == sum(spilled.values())
    assert kernel.local_bytes_a_thread >= kernel.spilled_bytes
    assert kernel.terms_us["L2"] > kernel.spill_terms_us["L2"] > 0


def test_damaged_machine_code_raises_nothing(library: Path) -> None:
    """A submission may add its own machine code."""
    (code, *_) = machine_codes(section_of(library.read_bytes()))
    assert spills_of_code(code)
    dice = random.Random(7)
    for number in range(200):
        damaged = bytearray(code[: dice.randrange(len(code))] if number % 5 == 0 else code)
        for _ in range(dice.choice((1, 3, 20)) if damaged else 0):
            damaged[dice.randrange(len(damaged))] = dice.randrange(256)
        head = dice.randrange(0x40)
        damaged[head : head + 1] = bytes([dice.randrange(256)])
        spills_of_code(bytes(damaged))


def test_who_waits_for_what(library: Path) -> None:
    (kernel,) = profiled(library, 2).kernels
    by_line = {line.line: line for line in kernel.lines}
    assert sum(kernel.stalls.values()) == sum(line.delay_cycles for line in kernel.lines)
    assert set(kernel.stalls) == {"global memory", "shared memory", "barriers", "arithmetic"}
    loads = next(access for access in kernel.accesses if access.kind == "load")
    assert (loads.array, loads.times, loads.step) == ("a", 1.0, 4)
    assert by_line[loads.line].delay_cycles >= loads.delay_cycles > 800 * kernel.blocks
    assert any(each.text.startswith("ld.global") for each in by_line[loads.line].ptx)
    assert {array.name: (array.read, array.written) for array in kernel.arrays} == {
        "a": (4 * ELEMENTS, 0),
        "out": (0, 4 * ELEMENTS),
    }


def test_launches_are_on_a_time_line(library: Path) -> None:
    profile = profiled(library, 16)
    assert len(profile.timeline) == 32
    ends = [launched.start_us + launched.time_us for launched in profile.timeline]
    assert [launched.start_us for launched in profile.timeline[1:]] == pytest.approx(ends[:-1])
    assert ends[-1] == pytest.approx(profile.time_us)


def test_small_blocks_of_triton(forked_boxes: ForkedBoxes) -> None:
    """128 threads for 32 elements."""
    challenge = find_catalogue().load("vector_add")
    report = profile_at_home(challenge, TRITON, Language.TRITON, forked_boxes)
    profile = report.workloads[0].profile
    assert profile is not None
    assert hints_of(profile)[0].kind == "little work"
