"""Whole launches of staff's solutions, natively and as WebAssembly: the same memory afterwards, bit for bit."""

from __future__ import annotations

import hashlib
import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from grader.challenge.catalogue import find_catalogue
from grader.judge.arena import Arena
from grader.judge.oracle import ask, scalar_values
from grader.sandbox.emulator.engine import Engine
from grader.sandbox.emulator.library import CFinding
from grader.sandbox.emulator.names import NONE
from grader.sandbox.emulator.stepping.recorder import Kept, Recorder, Refused, Run
from grader.web.assets import _STATIC
from tests.components import need
from tests.emulator.judging import SEED, Table, compile_source

CATALOGUE = find_catalogue()
DRIVER = Path(__file__).with_name("whole_driver.js")
# In each run: expf, which rounds down; atomics; blocks that look back; tensor cores and fp16. All others in
# turn.
SAMPLE = ("softmax", "histogram", "inclusive_scan", "matmul_fp16")
# Launches of a solution, of its smallest cases.
MOST = 12


class Launches(Recorder):
    """Keeps every launch, also failed ones."""

    def __init__(self, engine: Engine) -> None:
        super().__init__(engine._c, list(engine._operations))
        self.taken: list[Kept] = []

    def begins(self, *given: Any, cooperative: bool) -> None:
        super().begins(*given, cooperative=cooperative)
        assert self.kept is not None
        if len(self.taken) < MOST and self.kept.alone and self.kept.memory is not None:
            self.taken.append(self.kept)

    def found(self, finding: CFinding, named: dict[int, str]) -> None:
        raise AssertionError(finding.kind)


def solutions() -> list[Any]:
    return [
        pytest.param(slug, marks=[] if slug in SAMPLE else [pytest.mark.in_turn])
        for slug in CATALOGUE.slugs()
        if (CATALOGUE.root / "reference" / slug / "staff" / "solution.cu").exists()
        and CATALOGUE.load(slug).manifest.gpus == 1  # a page steps through one GPU's launches
    ]


@pytest.mark.parametrize("slug", solutions())
def test_launches_are_the_same_bit_for_bit(slug: str, tmp_path: Path) -> None:
    need("nvcc")
    need("wasm")
    need("node")
    challenge = CATALOGUE.load(slug)
    solution = CATALOGUE.root / "reference" / slug / "staff" / "solution.cu"
    table = Table(compile_source(challenge, solution, tmp_path), threads=1)
    try:
        recorder = Launches(table.engine)
        table.engine.recorder = recorder
        for case in challenge.suite("cpu", hidden=False):
            if len(recorder.taken) >= MOST:
                break
            arena = Arena(challenge.manifest, case.sizes, scalar_values(challenge.manifest, case))
            arena.reveal(ask(challenge, case, SEED).inputs)
            table.call(arena)
            arena.close()
        want, files = {}, []
        for number, kept in enumerate(recorder.taken):
            every = [bytearray(b"\1" * len(memory.data)) for memory in kept.memory or ()]
            header: dict[str, Any] = {
                "block": 0,
                "before": NONE,
                "kind": 0,
                "line": 0,
                "rows": 0,
                "finding": {},
            }
            header["cooperative"] = int(kept.cooperative)
            try:
                packed = recorder.packed(kept, header, every, {})
            except Refused:  # it is too large
                continue
            files.append(tmp_path / str(number))
            files[-1].write_bytes(packed)
            with Run(table.engine._c, kept) as run:
                ended, rows, memory = run.all()
            digest = hashlib.sha256(b"".join(memory)).hexdigest()
            want[str(number)] = {"ended": ended, "rows": rows, "memory": digest}
    finally:
        table.close()
    assert want
    assert all(each["ended"] == 0 and each["rows"] for each in want.values())
    command = ["node", DRIVER, _STATIC / "step_worker.js", _STATIC / "built" / "engine.wasm", *files]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr[-2000:]
    assert json.loads(ran.stdout) == want
