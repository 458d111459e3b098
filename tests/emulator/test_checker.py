"""The checker reports each planted fault with its line, and nothing in right code."""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest

from grader.sandbox.emulator.device import Device, HostEnded, HostProcess, Returned, Unfreed
from grader.sandbox.emulator.explain import message_of
from grader.sandbox.emulator.findings import Finding, Thread
from grader.sandbox.emulator.ptx import Place
from grader.sandbox.image import PROGRAMS, RUNNER_MOUNT
from tests.emulator.conftest import FOLDER, Compile

N = 128
# Kernels of faulty device functions.
CALLERS = {"fetch": "in_a_function", "deeper": "without_end"}


@dataclass(frozen=True)
class Planted:
    """Entry ``number`` of ``source``. ``kind``: of its fault; empty: it is right."""

    name: str
    source: Path
    number: int
    kind: str
    line: int


def planted(file: str, table: str) -> list[Planted]:
    source = FOLDER / file
    text = source.read_text()
    names = re.findall(r"\w+", text[text.index(table) :].partition("{")[2].partition("}")[0])
    lines = text.splitlines()
    marks = {
        found[1]: number
        for number, line in enumerate(lines, 1)
        if (found := re.search(r"// LINE: (\w+)", line))
    }
    expected: dict[str, tuple[str, int]] = {}
    name = ""
    for number, line in enumerate(lines, 1):
        if declared := re.match(r"(?:__global__|__device__|static int) .*?(\w+)\(", line):
            name = declared[1]
        if fault := re.search(r"// FAULT: (\w+) ?(\w*)", line):
            expected[CALLERS.get(name, name)] = (fault[1], marks.get(fault[2], number))
        elif line.endswith("// RIGHT"):
            expected[name] = ("", number)
    assert set(expected) == set(names), set(expected) ^ set(names)
    return [Planted(name, source, names.index(name), *expected[name]) for name in names]


PLANTED = [
    *planted("faults.cu", "kernels[] = {"),
    *planted("misuse.cu", "entries[] = {"),
    *planted("streams.cu", "entries[] = {"),
]
FAULTS, RIGHT = (
    [program for program in PLANTED if program.kind],
    [program for program in PLANTED if not program.kind],
)


def ran(device: Device, compiled: Compile, program: Planted) -> Returned:
    host = HostProcess(device, compiled(program.source))
    given = np.linspace(-1, 1, N, dtype=np.float32)
    out = np.zeros(N, dtype=np.float32)
    buffers = [
        device.adopt(array.ctypes.data, array.nbytes, label, written=True)
        for array, label in ((out, "out"), (given, "in"))
    ]
    addresses = (struct.pack("<Q", address) for address in buffers)
    try:
        return host.call([struct.pack("<i", program.number), *addresses, struct.pack("<i", N)])
    except HostEnded:
        assert device.call.on_host is not None
        return replace(device.returned(), misuses=[device.call.on_host])
    finally:
        host.close()


def all_findings(returned: Returned) -> list[Finding]:
    return [*([returned.fault] if returned.fault else []), *returned.findings]


def told(returned: Returned) -> list[tuple[str, int, str]]:
    return [
        *((finding.kind, finding.place.line, message_of(finding)) for finding in all_findings(returned)),
        *((misuse.kind, misuse.line, misuse.message) for misuse in returned.misuses),
    ]


def test_at_least_sixty_faults_are_planted() -> None:
    assert len(FAULTS) >= 60


@pytest.mark.parametrize("program", FAULTS, ids=[program.name for program in FAULTS])
def test_a_planted_fault_is_reported_with_its_line(
    device: Device, compiled: Compile, program: Planted
) -> None:
    found = told(ran(device, compiled, program))
    assert (program.kind, program.line) in [(kind, line) for kind, line, _ in found], found


@pytest.mark.parametrize("program", RIGHT, ids=[program.name for program in RIGHT])
def test_right_programs_have_no_findings(device: Device, compiled: Compile, program: Planted) -> None:
    returned = ran(device, compiled, program)
    assert told(returned) == []
    assert returned.code == 0


def message(device: Device, compiled: Compile, name: str) -> str:
    (found,) = told(ran(device, compiled, next(program for program in PLANTED if program.name == name)))
    return re.sub(r"hread \d+", "hread N", re.sub(r"block \d", "block N", found[2]))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (
            "shared_too_small",
            "Thread N of block N writes 4 bytes just past the end of the shared array tile, which has 128 bytes.",
        ),
        (
            "between_shared_arrays",
            "Thread N of block N reads 4 bytes just past the end of the shared array first, which has 256 bytes.",
        ),
        (
            "vote_of_absent_threads",
            "Thread N of block N is in the mask 0xffffffff, which other threads of its warp pass here, but is "
            "elsewhere: all threads in a mask must reach the same call.",
        ),
        (
            "barrier_in_one_branch",
            "Thread N of block N goes past this __syncthreads(), on to line 352, and returns, while other threads of "
            "its block wait here. They continue without it. If they should not, make all threads reach the barrier.",
        ),
        (
            "vectors_that_differ",
            "Thread N of block N writes byte 0 of out, and thread N writes it. Both write to it from this line: they "
            "compute the same index. Give each thread its own element; to add to one element, use atomicAdd.",
        ),
        ("pointer_that_is_null", "Thread N of block N reads 4 bytes at address 0, a null pointer."),
        ("freed_twice", "cudaFree gets memory that was already freed in line 55."),
        (
            "dynamic_shared_too_small",
            "Thread N of block N writes 4 bytes just past the end of the shared array room, which has 256 bytes.",
        ),
        (
            "read_on_the_host",
            "The host code reads in, which is device memory: only kernels reach it. Do this in a kernel, or use "
            "cudaMemcpy to copy to or from a host array.",
        ),
        (
            "copied_by_memcpy",
            "The host code writes out, which is device memory: only kernels reach it. Do this in a kernel, or use "
            "cudaMemcpy to copy to or from a host array.",
        ),
        (
            "too_many_threads",
            "A launch has blocks of 2,048 threads: a block has at most 1,024. Use more, smaller blocks.",
        ),
        (
            "no_blocks",
            "A launch has a grid of 0 blocks: it needs at least one. If a size may be 0, return before the launch. If "
            "not, an integer division rounds down: (n + 255) / 256 counts blocks of 256, n / 256 drops the last one.",
        ),
        (
            "too_much_shared",
            "A launch asks for 60,000 bytes of dynamic shared memory, and its kernel declares 0: together more than "
            "the 49,152 allowed. To use more than 48 KiB, first call cudaFuncSetAttribute with "
            "cudaFuncAttributeMaxDynamicSharedMemorySize.",
        ),
        (
            "symbol_too_small",
            "A copy of 64 bytes is larger than the device variable, which has 32.",
        ),
        (
            "freed_inside",
            "cudaFree gets an address 16 bytes into an allocation: pass the pointer that cudaMalloc returned.",
        ),
    ],
)
def test_messages_name_fault_place_and_thread(
    device: Device, compiled: Compile, name: str, text: str
) -> None:
    assert message(device, compiled, name) == text


def test_threads_may_return_instead_of_reaching_a_barrier(
    device: Device, compiled: Compile, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A card waits for the threads that have not returned."""
    monkeypatch.syspath_prepend(str(PROGRAMS[RUNNER_MOUNT]))
    import emulated

    returned = ran(
        device, compiled, next(program for program in PLANTED if program.name == "barriers_by_trip_count")
    )
    assert emulated.failure_of(returned) is None
    (remark,) = emulated.remarks_of(returned)
    assert "goes past this __syncthreads()" in remark


def test_a_copy_goes_by_its_pointers_and_a_remark_reports_the_wrong_direction(
    device: Device, compiled: Compile
) -> None:
    program = next(program for program in PLANTED if program.name == "right_direction")
    assert [(finding.line, finding.message) for finding in ran(device, compiled, program).remarks] == [
        (
            program.line + 1,
            "A copy says cudaMemcpyHostToDevice, but its source is in, which is device memory already. It is copied "
            "from there. Arrays that solve gets are device pointers: pass them to kernels as they are.",
        )
    ]


def test_unfreed_memory_is_reported_with_its_line(device: Device, compiled: Compile) -> None:
    program = next(program for program in PLANTED if program.name == "freed_inside")
    line = 1 + program.source.read_text().splitlines().index("    cudaMalloc(&made, n * sizeof(float));")
    assert ran(device, compiled, program).unfreed == [Unfreed(4 * N, line)]


def test_a_race_at_one_index_gives_no_cause() -> None:
    """A loop with a step of one block looks like a missing blockIdx, or like an overflow of an index."""
    threads = [Thread((block, 0, 0), (7, 0, 0)) for block in (0, 3)]
    place = Place(1, 5)
    message = message_of(
        Finding(
            "global_race",
            "k",
            place,
            threads[0],
            "y",
            4096,
            28,
            4,
            "global",
            True,
            1,
            threads[1],
            place,
            True,
            True,
        )
    )
    assert message == (
        "Thread 7 of block 0 writes byte 28 of y, and thread 7 of block 3 writes it. Both write to it from this line: "
        "they compute the same index. Give each thread its own element; to add to one element, use atomicAdd."
    )
