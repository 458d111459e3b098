"""The checker names each planted fault with its line, and nothing in kernels that are right."""

from __future__ import annotations

import re
import struct

import numpy as np
import pytest

from grader.sandbox.emulator.device import Device, HostProcess, Returned
from grader.sandbox.emulator.engine import Finding
from grader.sandbox.emulator.explain import message_of
from tests.emulator.conftest import FOLDER, Compile

SOURCE = FOLDER / "faults.cu"
TEXT = SOURCE.read_text()
NAMES = re.findall(r"\w+", TEXT[TEXT.index("kernels[] = {") :].partition("{")[2].partition("}")[0])
N = 128
# The kernels of device functions that are at fault.
CALLERS = {"fetch": "in_a_function", "deeper": "without_end"}


def expected() -> dict[str, tuple[str, int]]:
    """Kernel -> kind and line of what it does wrong; an empty kind where it is right."""
    found, name = {}, ""
    for number, line in enumerate(TEXT.splitlines(), 1):
        if declared := re.match(r"__(?:global|device)__ .*?(\w+)\(", line):
            name = declared[1]
        if fault := re.search(r"// FAULT: (\w+)", line):
            found[CALLERS.get(name, name)] = (fault[1], number)
        elif line.endswith("// RIGHT"):
            found[name] = ("", number)
    return found


def ran(device: Device, compiled: Compile, name: str) -> Returned:
    host = HostProcess(device, compiled(SOURCE))
    given = np.linspace(-1, 1, N, dtype=np.float32)
    out = np.zeros(N, dtype=np.float32)
    buffers = [
        device.adopt(it.ctypes.data, it.nbytes, label, written=True)
        for it, label in ((out, "out"), (given, "in"))
    ]
    try:
        return host.call(
            [
                struct.pack("<i", NAMES.index(name)),
                *(struct.pack("<Q", it) for it in buffers),
                struct.pack("<i", N),
            ]
        )
    finally:
        host.close()


def all_findings(returned: Returned) -> list[Finding]:
    return [*([returned.fault] if returned.fault else []), *returned.findings]


def test_every_kernel_says_what_is_expected_of_it() -> None:
    assert set(expected()) == set(NAMES)


@pytest.mark.parametrize("name", [name for name in NAMES if expected()[name][0]])
def test_a_fault_is_named_with_its_line(device: Device, compiled: Compile, name: str) -> None:
    kind, line = expected()[name]
    found = all_findings(ran(device, compiled, name))
    assert (kind, line) in [(it.kind, it.place.line) for it in found], [
        (it.kind, it.place, message_of(it)) for it in found
    ]


@pytest.mark.parametrize("name", [name for name in NAMES if not expected()[name][0]])
def test_nothing_is_found_where_nothing_is_wrong(device: Device, compiled: Compile, name: str) -> None:
    returned = ran(device, compiled, name)
    assert [message_of(it) for it in all_findings(returned)] == []
    assert returned.code == 0


def test_a_message_says_what_where_and_who(device: Device, compiled: Compile) -> None:
    (found,) = all_findings(ran(device, compiled, "shared_too_small"))
    assert message_of(found) == (
        "Thread 32 of block 1 writes 4 bytes just behind the end of the shared array tile, which has 128 bytes."
    ) or message_of(found).startswith(
        "Thread 32 of block 0 writes 4 bytes just behind the end of the shared array tile"
    )
