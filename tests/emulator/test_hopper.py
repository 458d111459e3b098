"""Programs for sm_90: ``hopper.cu`` says what each does, ``hopper_faults.cu`` what is wrong with each."""

from __future__ import annotations

import struct

import pytest

from grader.sandbox.emulator.device import Device, HostProcess
from grader.sandbox.emulator.explain import message_of
from tests.emulator.conftest import FOLDER, Compile

SOURCE = FOLDER / "hopper.cu"
PROGRAMS = (
    "library_barrier", "library_pipeline", "group_copy", "producer_consumer", "counted", "cluster_sum", "cluster_shape",
    "remote_arrival",
)  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_it_computes_what_the_host_does(device: Device, compiled: Compile, name: str) -> None:
    host = HostProcess(device, compiled(SOURCE, "compute_90a"))
    try:
        returned = host.call([struct.pack("<i", PROGRAMS.index(name))])
    finally:
        host.close()
    found = [it for it in (returned.fault, *returned.findings) if it is not None]
    assert [(it.place.line, message_of(it)) for it in found] == []
    assert returned.code == 0, f"hopper.cu:{returned.code} {returned.unsupported or returned.refused}"
