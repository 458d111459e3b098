"""What ``benchmarks/throughput.py`` reads from the logs of workers."""

from __future__ import annotations

import json
import sys
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

from grader.languages import Language

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def throughput(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.setattr("sys.path", [str(ROOT / "benchmarks"), *sys.path])
    return import_module("throughput")


def test_a_gap_counts_if_another_submission_was_waiting(throughput: ModuleType, tmp_path: Path) -> None:
    events = ("compiled", "judging", "judge_began", "judge_ended", "judged")
    seconds = {"a": (1, 10, 11, 20, 22), "b": (5, 23, 24, 30, 31), "late": (35, 36, 37, 40, 41)}
    lines = ["a line of something else"]
    for one, times in seconds.items():
        for event, at in zip(events, times, strict=True):
            stamp = datetime.fromtimestamp(at, UTC).isoformat()
            lines.append(json.dumps({"event": event, "submission": one, "worker": "w", "timestamp": stamp}))
    (tmp_path / "log").write_text("\n".join([*lines, json.dumps({"event": "worker_ended", "worker": "w"})]))
    views = [
        SimpleNamespace(id=one, created_at=datetime.fromtimestamp(0, UTC)) for one in (*seconds, "not judged")
    ]
    found = throughput.judgements(tmp_path / "log", views)
    assert throughput.gaps(found) == [{"whole": 4.0, "record": 2.0, "claim": 1.0, "prepare": 1.0}]
    figures = throughput.where(found, sent=9.0)
    assert (figures["until_first_s"], figures["judged_s"]) == (2.0, {"median": 6.0, "mean": 6.0})


def test_kernels_count_as_ahead_if_ready_before_the_claim(throughput: ModuleType, tmp_path: Path) -> None:
    def line(one: str, event: str, second: int, **more: int) -> str:
        stamp = datetime.fromtimestamp(second, UTC).isoformat()
        return json.dumps({"event": event, "submission": one, "timestamp": stamp, **more})

    made = {"in time": (5, 10), "late": (11, 10), "of no use": (5, 0)}
    lines = [line(one, "judging", 10) for one in (*made, "alone")]
    lines += [line(one, "kernels_compiled_ahead", at, bytes=size) for one, (at, size) in made.items()]
    (tmp_path / "log").write_text("\n".join(lines))
    views = [SimpleNamespace(id=one, device="h200", language=Language.TRITON) for one in (*made, "alone")]
    cuda = SimpleNamespace(id="in time", device="h200", language=Language.CUDA)
    assert throughput.kernels_ahead(tmp_path / "log", views) == {"submissions": 4, "compiled_ahead": 1}
    assert throughput.kernels_ahead(tmp_path / "log", [cuda]) == {}
