"""Programs that use more of CUDA than plain kernels, unmodified: ``features.cu`` says what each entry does."""

from __future__ import annotations

import struct

import pytest

from grader.sandbox.emulator.device import Device, HostProcess, Returned
from tests.emulator.conftest import FOLDER, Compile

SOURCE = FOLDER / "features.cu"
ENTRIES = (
    "arguments by value", "constant memory", "globals", "recursion", "virtual functions", "printf", "a lane that waits",
    "blocks that wait", "a cooperative grid", "warp functions", "barriers that vote", "dynamic shared memory", "halves",
    "a switch", "graphs", "events", "errors",
)  # fmt: skip


def ran(device: Device, compiled: Compile, entry: str) -> Returned:
    host = HostProcess(device, compiled(SOURCE))
    try:
        return host.call([struct.pack("<i", ENTRIES.index(entry))])
    finally:
        host.close()


@pytest.mark.parametrize("entry", ENTRIES)
def test_it_does_what_a_card_does(device: Device, compiled: Compile, entry: str) -> None:
    returned = ran(device, compiled, entry)
    assert returned.code == 0, (
        f"features.cu:{returned.code} {returned.unsupported or returned.refused or returned.fault}"
    )
    if entry != "errors":
        assert (returned.fault, returned.findings, returned.unsupported) == (None, [], None)
    if entry == "printf":
        assert returned.printed == b"n=42 x=1.50 text 1099511627776%\n"
