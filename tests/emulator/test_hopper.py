"""Programs for sm_90, right (``hopper.cu``) and faulty (``hopper_faults.cu``)."""

from __future__ import annotations

import re
import struct
from pathlib import Path

import numpy as np
import pytest

from grader.sandbox.emulator.device import Device, HostProcess, Returned
from grader.sandbox.emulator.engine import Engine
from grader.sandbox.emulator.explain import message_of
from tests.emulator.conftest import FOLDER, Compile
from tests.emulator.judging import HOPPER_PROGRAMS
from tests.emulator.test_step import same_as_webassembly

SOURCE, FAULTS = FOLDER / "hopper.cu", FOLDER / "hopper_faults.cu"
TEXT = FAULTS.read_text()
FAULTY = re.findall(r"\w+", " ".join(re.findall(r"kernels\[\].* = {([^}]*)}", TEXT)))


def planted() -> dict[str, tuple[str, int]]:
    found, name = {}, ""
    for number, line in enumerate(TEXT.splitlines(), 1):
        if declared := re.match(r"__global__ void (?:__cluster_dims__\([\d, ]*\) )?(\w+)\(", line):
            name = declared[1]
        if fault := re.search(r"// FAULT: (\w+)", line):
            found[name] = (fault[1], number)
    return found


@pytest.mark.parametrize("name", HOPPER_PROGRAMS)
def test_hopper_programs_match_the_hosts_results(device: Device, compiled: Compile, name: str) -> None:
    host = HostProcess(device, compiled(SOURCE))
    try:
        returned = host.call([struct.pack("<i", HOPPER_PROGRAMS.index(name))])
    finally:
        host.close()
    found = [finding for finding in (returned.fault, *returned.findings) if finding is not None]
    assert [(finding.place.line, message_of(finding)) for finding in found] == []
    assert returned.code == 0, f"hopper.cu:{returned.code} {returned.unsupported or returned.refused}"


def ran(device: Device, compiled: Compile, name: str) -> Returned:
    host = HostProcess(device, compiled(FAULTS))
    given, out = np.linspace(-1, 1, 128, dtype=np.float32), np.zeros(128, dtype=np.float32)
    addresses = [
        device.adopt(array.ctypes.data, array.nbytes, label, written=True)
        for array, label in ((out, "out"), (given, "in"))
    ]
    try:
        return host.call(
            [struct.pack("<i", FAULTY.index(name)), *(struct.pack("<Q", address) for address in addresses)]
        )
    finally:
        host.close()


def test_products_and_mbarriers_are_stepped_as_in_webassembly(compiled: Compile, tmp_path: Path) -> None:
    bundles = {}
    for name in ("consumer_does_not_wait", "used_before_it_is_there", "operands_without_fence"):
        engine = Engine(threads=1)
        recorder = engine.record()
        try:
            ran(Device(engine), compiled, name)
        finally:
            engine.close()
        assert recorder.bundle, (name, recorder.why)
        bundles[name] = recorder.bundle
    same_as_webassembly(bundles, tmp_path)


@pytest.mark.parametrize("name", FAULTY)
def test_a_hopper_fault_is_reported_with_its_line(device: Device, compiled: Compile, name: str) -> None:
    returned = ran(device, compiled, name)
    found = [finding for finding in (returned.fault, *returned.findings) if finding is not None]
    assert planted()[name] in [(finding.kind, finding.place.line) for finding in found], [
        (finding.kind, finding.place.line, message_of(finding)) for finding in found
    ]
