"""Unmodified programs that use more of CUDA than plain kernels; ``features.cu`` and ``runtime.cu`` describe them."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from grader.sandbox.emulator.device import MANAGED_TAKEN, Device, HostProcess, Returned
from tests.emulator.conftest import FOLDER, Compile

FEATURES, RUNTIME = FOLDER / "features.cu", FOLDER / "runtime.cu"
ENTRIES = (
    "arguments by value", "constant memory", "globals", "recursion", "virtual functions", "printf", "a lane that waits",
    "blocks that wait", "a cooperative grid", "warp functions", "barriers that vote", "dynamic shared memory", "halves",
    "a switch", "graphs", "events", "errors", "inline PTX",
)  # fmt: skip
RUNTIME_ENTRIES = (
    "managed memory", "managed memory that is not waited for", "managed lists and variables", "rectangles and boxes",
    "parts of variables", "properties", "pools and host functions", "graphs of nodes", "groups", "atomics of cuda::",
    "pipelines", "memory of kernels", "copies by where pointers lie", "registered memory",
)  # fmt: skip


def ran(device: Device, library: Path, entry: int, *, counted: bool = False) -> Returned:
    host = HostProcess(device, library)
    try:
        return host.call([struct.pack("<i", entry)], counted=counted)
    finally:
        host.close()


@pytest.mark.parametrize("entry", ENTRIES)
def test_cuda_features_behave_as_on_a_card(device: Device, compiled: Compile, entry: str) -> None:
    returned = ran(device, compiled(FEATURES), ENTRIES.index(entry))
    assert returned.code == 0, (
        f"features.cu:{returned.code} {returned.unsupported or returned.refused or returned.fault}"
    )
    if entry == "events":  # it looks before it waits
        assert {finding.kind for finding in returned.findings} == {"stream_race"}
    elif entry != "errors":
        assert (returned.fault, returned.findings, returned.unsupported) == (None, [], None)
    if entry == "printf":
        assert returned.printed == b"n=42 x=1.50 text 1099511627776%\n"


@pytest.mark.parametrize("entry", RUNTIME_ENTRIES)
def test_runtime_calls_behave_as_cudas(device: Device, compiled: Compile, entry: str) -> None:
    returned = ran(device, compiled(RUNTIME), RUNTIME_ENTRIES.index(entry))
    assert returned.code == 0, (
        f"runtime.cu:{returned.code} {returned.unsupported or returned.refused or returned.fault}"
    )
    assert (returned.fault, returned.findings, returned.unsupported, returned.unfreed) == (None, [], None, [])
    assert returned.heap_leaked == (0, 0)


def test_counted_calls_limit_host_access_to_managed_memory(device: Device, compiled: Compile) -> None:
    returned = ran(device, compiled(RUNTIME), RUNTIME_ENTRIES.index("managed memory"), counted=True)
    assert returned.code > 0  # it saw its own write
    assert returned.taken <= MANAGED_TAKEN
    few = ran(device, compiled(RUNTIME), 1, counted=True)
    assert few.code == 0
    assert 0 < few.taken <= MANAGED_TAKEN


@pytest.mark.parametrize("entry", range(4), ids=["two axes", "three axes", "memory and layers", "surfaces"])
def test_textures_behave_as_on_a_card(device: Device, compiled: Compile, entry: int) -> None:
    returned = ran(device, compiled(FOLDER / "textures.cu"), entry)
    assert returned.code == 0, (
        f"textures.cu:{returned.code} {returned.unsupported or returned.refused or returned.fault}"
    )
    assert (returned.fault, returned.findings, returned.unfreed) == (None, [], [])


def test_an_access_outside_a_surface_is_a_fault(device: Device, compiled: Compile) -> None:
    returned = ran(device, compiled(FOLDER / "textures.cu"), 4)
    assert returned.code == 0
    assert returned.fault is not None
    assert (returned.fault.kind, returned.fault.writes) == ("out_of_bounds", True)
