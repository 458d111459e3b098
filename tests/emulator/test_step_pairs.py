"""Two blocks that race, stepped as a pair in either order; the time line; and a thread that turns away from a store."""

from __future__ import annotations

import itertools
import json
import subprocess
from pathlib import Path
from typing import Any

from grader.sandbox.emulator.stepping.not_stored import Wanted
from grader.web.assets import _STATIC
from tests import stepping_pair
from tests.components import need

DRIVER = Path(__file__).with_name("pair_driver.js")


def in_node(bundle: bytes, folder: Path) -> dict[str, Any]:
    """The page worker's answer about a bundle: see the driver."""
    need("wasm")
    need("node")
    (folder / "bundle").write_bytes(bundle)
    command = [
        "node",
        DRIVER,
        _STATIC / "step_worker.js",
        _STATIC / "built" / "engine.wasm",
        folder / "bundle",
    ]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr[-2000:]
    said: dict[str, Any] = json.loads(ran.stdout)
    return said


def test_both_accesses_of_a_race_in_either_order(tmp_path: Path) -> None:
    recorder, _ = stepping_pair.launched(stepping_pair.RACE)
    assert recorder.word == "out[1]"
    told = [
        [(access["block"][0], access["line"], access["before"], access["after"]) for access in order]
        for order in recorder.orders
    ]
    first, second, third = "07000000", "03000000", "04000000"
    assert told == [
        [(1, 4, first, third), (0, 4, third, second)],
        [(0, 4, first, second), (1, 4, second, third)],
    ]
    said = in_node(recorder.bundle, tmp_path)
    for order, accesses in zip(said["orders"], recorder.orders, strict=True):
        assert order["blocks"] == [access["block"] for access in accesses]
        assert order["words"] == [[access["before"], access["after"]] for access in accesses]
        # The page goes on to the second access, and no farther.
        assert order["rows"] == accesses[1]["row"] + 1
        assert order["again"] == order["words"]


def test_the_time_line_says_who_runs_waits_and_is_done(tmp_path: Path) -> None:
    recorder, _ = stepping_pair.launched(stepping_pair.RACE)
    line = in_node(recorder.bundle, tmp_path)["orders"][0]["timeline"]
    first = line["warps"][0]
    assert [len(line["blocks"]), len(line["warps"]), first["part"], first["warp"]] == [2, 4, 0, 0]
    # It waits for warp 1, which then goes on first.
    assert first["spans"] == [
        [0, 4, "runs", 32], [4, 8, "waits", 0], [8, 11, "later", 0], [11, 13, "runs", 32], [13, 16, "diverged", 8],
        [16, 17, "diverged", 1], [17, 18, "runs", 32],
    ]  # fmt: skip
    assert line["warps"][1]["spans"][-1] == [11, 18, "done", 0]
    for warp in line["warps"]:
        spans = warp["spans"]
        assert all(before[1] == after[0] for before, after in itertools.pairwise(spans))


def test_the_condition_that_keeps_a_thread_from_its_store() -> None:
    _, asked = stepping_pair.launched(stepping_pair.GUARDED)
    assert asked
    assert (asked["place"], asked["block"], asked["thread"]) == (70, (1, 0, 0), (6, 0, 0))
    recorder, _ = stepping_pair.launched(stepping_pair.GUARDED, wanted=Wanted.of(asked))
    assert recorder.reason == {
        "how": "mask", "line": 5, "store_line": 5, "compared": [70, 70], "elements": [], "stores": 0,
    }  # fmt: skip
    wanted = Wanted.of({**asked, "place": 127, "thread": (63, 0, 0)})
    recorder, _ = stepping_pair.launched(stepping_pair.GUARDED, wanted=wanted)
    # The branch in line 3 goes another way, too, and does not matter.
    assert recorder.reason == {
        "how": "branch", "line": 4, "store_line": 5, "compared": [127, 127], "elements": [], "stores": 0,
    }  # fmt: skip
    assert recorder.bundle
    wanted = Wanted.of({**asked, "place": 9, "thread": (9, 0, 0), "block": (0, 0, 0)})
    recorder, _ = stepping_pair.launched(stepping_pair.GUARDED, wanted=wanted)
    assert recorder.reason
    assert (recorder.reason["how"], recorder.reason["elements"]) == ("elsewhere", [9])
