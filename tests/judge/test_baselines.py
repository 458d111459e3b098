"""Each baseline that is not frozen is measured once, in a separate box."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest

from grader.challenge.catalogue import find_catalogue
from grader.challenge.model import Workload
from grader.judge.failed_baselines import FailedBaselines
from grader.judge.host_device import HostDevice
from grader.judge.request import Request
from grader.judge.round_costs import RoundCosts
from grader.judge.rule import Measured, Own
from grader.judge.runner_client import Timed
from grader.judge.timekeeper import Timekeeper
from grader.judge.timing import BaselineFailed
from grader.languages import Language
from grader.scoring import SHORTEST_S, Estimate


class TwoBaselines(HostDevice):
    baselines = ("eager", "compile")


@dataclass
class References:
    started: list[str] = field(default_factory=list)
    alive: int = 0

    def reference(self, mode: str) -> Any:
        assert self.alive == 0, "two references at once"
        self.started.append(mode)
        self.alive += 1
        return SimpleNamespace(mode=mode, close=self._close)

    def _close(self) -> None:
        self.alive -= 1


def _measure(
    frozen: dict[str, dict[str, float | None]],
    monkeypatch: pytest.MonkeyPatch,
    ends: tuple[float, float] = (0.9, 1.1),
    fixed: float = 1e-3,
    later: tuple[float, float] | None = None,
) -> tuple[list[str], dict[str, dict[str, float | None]]]:
    """Started references, and times. ``ends`` of the intervals: shares of the time. ``later``: those of a
    second measurement.
    """

    def baseline(_workload: Workload, reference: Any, _control: Any, mode: str) -> Any:
        mode, again, _ = mode.partition(", ")
        low, high = later if again and later is not None else ends
        assert reference.mode == mode
        seconds = {"eager": 3e-6, "compile": 2e-6}[mode]
        interval = (max(SHORTEST_S, seconds * low), seconds * high)
        return Measured(
            Estimate(seconds, interval), 9, 0.0, 0.0, fixed, 0.0, 0.0, (0.0, 0.0), 0.0, gated=True
        )

    challenge = find_catalogue().load("vector_add")
    request = Request(challenge, Language.TRITON, "", "cpu", b"", [], baselines=frozen)
    launcher: Any = References()
    timekeeper = Timekeeper(
        request, TwoBaselines(), launcher, tell=lambda *_: None, clock=lambda _: nullcontext()
    )
    monkeypatch.setattr(timekeeper, "_baseline", baseline)
    workloads: Any = [SimpleNamespace(name=name) for name in ("small", "large")]
    control: Any = None  # asked by rounds, of which there are none here
    found = timekeeper.baselines(workloads, control)
    assert launcher.alive == 0
    for workload in workloads:
        without = timekeeper.untimed.get(workload.name, {}).keys()
        timed = {**frozen.get(workload.name, {}), **found.get(workload.name, {})}
        assert without == {"eager", "compile"} - timed.keys()
    return launcher.started, found


def test_eager_and_compile_are_measured_once(monkeypatch: pytest.MonkeyPatch) -> None:
    started, found = _measure({}, monkeypatch)
    assert started == ["eager", "compile"]
    assert found == {"small": {"eager": 3.0, "compile": 2.0}, "large": {"eager": 3.0, "compile": 2.0}}
    assert _measure(found, monkeypatch) == ([], {})


def test_only_missing_baselines_are_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    frozen = {"small": {"eager": 1.0, "compile": 1.0}, "large": {"eager": 1.0}}
    assert _measure(frozen, monkeypatch) == (["compile"], {"large": {"compile": 2.0}})


def test_a_baseline_too_short_to_measure_is_frozen_as_such(monkeypatch: pytest.MonkeyPatch) -> None:
    started, found = _measure({}, monkeypatch, ends=(0.0, 9.0))
    assert started == ["eager", "compile"]
    assert found == {"small": {"eager": None, "compile": None}, "large": {"eager": None, "compile": None}}
    assert _measure(found, monkeypatch) == ([], {})


def test_a_baseline_that_seems_too_short_is_measured_again(monkeypatch: pytest.MonkeyPatch) -> None:
    _, found = _measure({}, monkeypatch, ends=(0.0, 9.0), later=(0.9, 1.1))
    assert found == {"small": {"eager": 3.0, "compile": 2.0}, "large": {"eager": 3.0, "compile": 2.0}}


def test_a_disturbed_baseline_is_left_to_the_next_grading(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is longer than the cost of a round, so a quieter machine can distinguish it."""
    assert _measure({}, monkeypatch, ends=(0.1, 2.0), fixed=1e-6) == (["eager", "compile"], {})


def test_one_that_failed_is_tried_again_after_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    challenge = find_catalogue().load("vector_add")
    request = Request(challenge, Language.TRITON, "", "cpu", b"", [])
    launcher: Any = References()

    def baseline(*given: Any) -> Any:
        raise BaselineFailed("no kernel here")

    def graded() -> dict[str, dict[str, str]]:
        timekeeper = Timekeeper(
            request, TwoBaselines(), launcher, tell=lambda *_: None, clock=lambda _: nullcontext()
        )
        monkeypatch.setattr(timekeeper, "_baseline", baseline)
        workloads: Any = [SimpleNamespace(name="small")]
        control: Any = None
        assert timekeeper.baselines(workloads, control) == {}
        return timekeeper.untimed

    monkeypatch.setattr("grader.judge.timekeeper.FAILED", FailedBaselines())
    assert graded() == graded() == {"small": dict.fromkeys(("eager", "compile"), "no kernel here")}
    assert launcher.started == ["eager", "compile"], "once"
    monkeypatch.setattr("grader.judge.failed_baselines.RETRY_SECONDS", 0.0)
    monkeypatch.setattr("grader.judge.timekeeper.FAILED", FailedBaselines())
    graded()
    graded()
    assert launcher.started == ["eager", "compile"] * 3


ROUND_S, SWITCH_S, CONTROL_S = 306e-6, 140e-6, 1e-3


@pytest.mark.parametrize(
    ("company_s", "found"),
    [
        # A third context on the GPU adds a switch to every round, also to the control's.
        ([SWITCH_S] * 3, {}),
        ([SWITCH_S, SWITCH_S, 0.0], {"2^28": {"eager": 1000.0}}),
        ([0.0], {"2^28": {"eager": 1000.0}}),
    ],
)
def test_a_baseline_is_not_frozen_while_something_else_uses_the_gpu(
    company_s: list[float], found: dict[str, dict[str, float]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """There is no rank then, and a speedup over such a baseline would be wrong for ever. ``company_s``: of
    each measurement.
    """

    def rounds(length: float, company: float) -> list[Timed]:
        return [Timed(1.4e-3, length + ROUND_S + company, 1e-3, 1e-5)] * 12

    costs = RoundCosts()
    for _ in range(6):
        costs.note("another", ROUND_S)
    device = HostDevice()
    monkeypatch.setattr(device, "round_costs", costs, raising=False)
    monkeypatch.setattr(device, "confirms", True, raising=False)
    challenge = find_catalogue().load("vector_add")
    request = Request(challenge, Language.TRITON, "", "cpu", b"", [])
    launcher: Any = References()
    timekeeper = Timekeeper(request, device, launcher, lambda *_: None, lambda _: nullcontext())
    left = list(company_s)
    monkeypatch.setattr(
        timekeeper, "_control_rounds", lambda *_: [(timed, CONTROL_S) for timed in rounds(CONTROL_S, left[0])]
    )

    def stopwatch(*_: object) -> Any:
        # Another user of the GPU takes its time, too.
        return SimpleNamespace(own=lambda *_, checked: Own(rounds(1e-3 + 4 * left[0], left[0]), gated=True))

    monkeypatch.setattr(timekeeper, "_stopwatch", stopwatch)
    settled = timekeeper._settle

    def settle_and_go_on(*given: Any) -> Measured:
        measured = settled(*given)
        left.pop(0)
        return measured

    monkeypatch.setattr(timekeeper, "_settle", settle_and_go_on)
    workload: Any = SimpleNamespace(name="2^28")
    assert timekeeper.baselines([workload], None) == found
    assert not left
    assert costs.strays == 0, "only a submission's rounds tell what a round costs"
