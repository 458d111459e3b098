"""Bundles of failing blocks, run a row at a time natively and as WebAssembly."""

from __future__ import annotations

import ctypes
import gzip
import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from grader.sandbox.emulator import LIBRARY
from grader.sandbox.emulator.device import Device
from grader.sandbox.emulator.engine import Engine
from grader.sandbox.emulator.findings import KINDS
from grader.sandbox.emulator.library import open_library
from grader.sandbox.emulator.names import NONE, STEP_END, STEP_LAUNCH, STEP_STATE
from grader.sandbox.emulator.stepping.recorder import MOST_BYTES, STEPPED, _declared
from grader.web.assets import _STATIC
from tests.components import need
from tests.emulator.conftest import Compile
from tests.emulator.test_checker import FAULTS, Planted, ran

OF_BLOCKS = [
    fault for fault in FAULTS if fault.source.name == "faults.cu" and KINDS.index(fault.kind) in STEPPED
]
DRIVER = Path(__file__).with_name("step_driver.js")


def recorded(compiled: Compile, program: Planted) -> tuple[bytes, str, tuple[str, int]]:
    """A bundle or why there is none, and the kind and line of the first finding."""
    engine = Engine(threads=1)
    try:
        recorder = engine.record()
        returned = ran(Device(engine), compiled, program)
        first = next(found for found in (returned.fault, *returned.findings) if found is not None)
        return recorder.bundle, recorder.why, (first.kind, first.place.line)
    finally:
        engine.close()


def header_of(bundle: bytes) -> tuple[dict[str, Any], bytes]:
    whole = gzip.decompress(bundle)
    size = int.from_bytes(whole[:4], "little")
    return json.loads(whole[4 : 4 + size]), whole[-(-(4 + size) // 16) * 16 :]


class Native:
    """A bundle in this process, by the functions that the page's worker calls."""

    def __init__(self, bundle: bytes) -> None:
        self.header, self._blobs = header_of(bundle)
        self._c = _declared(open_library(LIBRARY))
        self._engine = ctypes.c_void_p(self._c.engine_new(1))
        self._keep: list[Any] = []
        granule = self.header["words"][STEP_LAUNCH.STEP_GRANULE]
        for region in self.header["regions"]:
            there = region["bytes"]
            buffers = [self._buffer(region.get(name)) for name in ("data", "valid")]
            seen = (ctypes.c_char * (12 * there))() if there else None
            self._keep.append(seen)
            numbers = (int(region["address"]), int(region["size"]), region["number"], region["flags"])
            assert self._c.step_region(self._engine, *numbers, region["from"], there, *buffers, seen, granule)
        if heap := self.header.get("heap"):
            numbers = (int(heap[name]) for name in ("address", "size", "next"))
            assert self._c.step_heap_begin(self._engine, *numbers)
            for at, size, freed in heap["pieces"]:
                assert self._c.step_heap_add(self._engine, int(at), int(size), freed)
        words = (ctypes.c_uint32 * len(self.header["words"]))(*self.header["words"])
        parts = [self._buffer(self.header[name]) for name in ("code", "pool", "specials", "spans")]
        self._it = ctypes.c_void_p(self._c.step_new(self._engine, words, *parts))
        header = self.header
        # Two blocks that race: one as a whole, then the other.
        alone = {"blocks": [header["block"]], "rows": [header["rows"]]}
        self.order = header.get("orders", [alone])[0]
        ends = header["before"], header["kind"], header["line"]
        self._ends = ends if len(self.order["blocks"]) == 1 else (NONE, 0, 0)
        self._part = 0
        self.state = self._begin()

    def _begin(self) -> Any:
        return self._c.step_begin(self._it, self.order["blocks"][self._part], *self._ends)

    def _buffer(self, place: list[int] | None) -> int | None:
        if place is None or not place[1]:
            return None
        raw = (ctypes.c_char * (place[1] + 1024))()
        self._keep.append(raw)
        start = -(-ctypes.addressof(raw) // 128) * 128
        ctypes.memmove(start, self._blobs[place[0] : place[0] + place[1]], place[1])
        return start

    def checksums(self) -> Iterator[int]:
        yield int(self._c.step_checksum(self._it))
        for _ in range(sum(self.order["rows"])):
            assert self.state[STEP_STATE.STEP_STATUS] == STEP_END.MORE
            self.state = self._c.step_on(self._it, 1)
            if self.state[STEP_STATE.STEP_STATUS] == STEP_END.ENDED and self._part + 1 < len(
                self.order["blocks"]
            ):
                self._part += 1
                self.state = self._begin()
            yield int(self._c.step_checksum(self._it))

    def close(self) -> None:
        self._c.step_delete(self._it)
        self._c.step_end(self._engine)


@pytest.fixture(scope="module")
def bundles(compiled: Compile) -> dict[str, bytes]:
    found = {program.name: recorded(compiled, program) for program in OF_BLOCKS}
    refused = {name: why for name, (_, why, _) in found.items() if why}
    assert not refused
    for name, (bundle, why, first) in found.items():
        if not why:
            header, _ = header_of(bundle)
            assert (header["kind_name"], header["lines"][header["line"]]) == first, name
            assert len(bundle) <= MOST_BYTES
    return {name: bundle for name, (bundle, _, _) in found.items() if bundle}


def test_planted_faults_have_bundles_that_come_to_the_same_line(bundles: dict[str, bytes]) -> None:
    assert len(bundles) > 45


def test_each_row_is_the_same_as_webassembly_back_and_forth(
    bundles: dict[str, bytes], tmp_path: Path
) -> None:
    same_as_webassembly(bundles, tmp_path)


def same_as_webassembly(bundles: dict[str, bytes], folder: Path) -> None:
    """Registers, rows and shared memory before every row; and again after jumps to random rows."""
    need("wasm")
    need("node")
    for name, bundle in bundles.items():
        (folder / name).write_bytes(bundle)
    worker, wasm = _STATIC / "step_worker.js", _STATIC / "built" / "engine.wasm"
    files = [folder / name for name in bundles]
    command = ["node", DRIVER, worker, wasm, *files]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr[-2000:]
    answers = json.loads(ran.stdout)
    for name, bundle in bundles.items():
        native = Native(bundle)
        sums = list(native.checksums())
        native.close()
        assert len(sums) == sum(native.order["rows"]) + 1, name
        assert answers[name]["sums"] == sums, name
        assert answers[name]["wrong_jumps"] == 0, name
        assert answers[name]["grew"] == 0, name
