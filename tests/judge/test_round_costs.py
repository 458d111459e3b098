"""The cost of rounds on a GPU: known after a restart, and used only for that very GPU."""

from __future__ import annotations

import json
import math
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from grader.judge.round_costs import FOLDER, LASTING_S, STRAYS, WORKLOADS, Machine, RoundCosts, Usual, kept_in

GPU = Machine("GPU-8f", "NVIDIA H100 80GB HBM3", "570.86.15")
USUAL = [(305 + number % 3) * 1e-6 for number in range(10)]
COMPANY_S = 445e-6


def noted(folder: Path, costs: list[float], machine: Machine = GPU) -> RoundCosts:
    found = RoundCosts(machine, folder)
    for cost in costs:
        found.note("vector_add 1: 2^28", cost)
    return found


def file_of(folder: Path) -> Path:
    return folder / FOLDER / "GPU-8f.json"


def test_the_known_range_survives_a_restart(tmp_path: Path) -> None:
    before, after = noted(tmp_path, USUAL), RoundCosts(GPU, tmp_path)
    assert after.known_range == pytest.approx((306e-6 * 0.95, 306e-6 * 1.05))
    assert after.known_range == before.known_range
    assert after.usual("vector_add 1: 2^28") == before.usual("vector_add 1: 2^28")
    assert after.is_usual(310e-6)
    assert not after.is_usual(COMPANY_S)
    assert after.usual("another workload") is None
    assert list(file_of(tmp_path).parent.iterdir()) == [file_of(tmp_path)]


def test_few_timings_give_no_range(tmp_path: Path) -> None:
    costs = noted(tmp_path, USUAL[:5])
    assert costs.known_range is None
    assert costs.usual("vector_add 1: 2^28") is None
    assert costs.is_usual(COMPANY_S)


@pytest.mark.parametrize("change", [{"uuid": "GPU-9a"}, {"model": "NVIDIA H200"}, {"driver": "580.1"}])
def test_another_gpu_or_driver_starts_without_a_range(tmp_path: Path, change: dict[str, str]) -> None:
    noted(tmp_path, USUAL)
    other = replace(GPU, **change)
    file_of(tmp_path).rename(file_of(tmp_path).with_name(f"{other.uuid}.json"))
    assert RoundCosts(other, tmp_path).known_range is None


def _changed(**changes: Any) -> Any:
    return lambda kept: json.dumps({**json.loads(kept), **changes})


@pytest.mark.parametrize(
    "spoil",
    [
        lambda kept: kept[:-20],
        lambda kept: "[]",
        lambda kept: "{}",
        lambda kept: "[" * 100_000,
        lambda kept: kept + " " * (1 << 18),
        _changed(version=0),
        _changed(costs_us=[305.0] * 41),
        _changed(costs_us=[305.0] * 10 + [-1.0]),
        _changed(costs_us=["305 us"] * 10),
        _changed(costs_us=[float("nan")] * 10),
        _changed(costs_us={"a": 1}),
        _changed(strays_us=None),
        _changed(workloads_us={"a": [305.0] * 41}),
        _changed(workloads_us={str(number): [305.0] for number in range(WORKLOADS + 1)}),
        _changed(workloads_us=[305.0]),
    ],
)
def test_an_unreadable_file_is_ignored_and_replaced(
    tmp_path: Path, spoil: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    noted(tmp_path, USUAL)
    file = file_of(tmp_path)
    file.write_text(spoil(file.read_text()))
    found = RoundCosts(GPU, tmp_path)
    assert "round_costs_ignored" in "".join(capsys.readouterr())
    assert (found.costs, found.usual("a"), found.known_range) == ([], None, None)
    found.note("a", 305e-6)
    assert RoundCosts(GPU, tmp_path).costs == pytest.approx([305e-6])


def test_an_unwritable_folder_fails_no_submission(tmp_path: Path) -> None:
    (tmp_path / FOLDER).write_text("in the way")
    assert noted(tmp_path, USUAL).known_range is not None


def test_removing_the_file_resets_a_running_judge(tmp_path: Path) -> None:
    costs = noted(tmp_path, USUAL)
    file_of(tmp_path).unlink()
    assert costs.is_usual(COMPANY_S)
    assert costs.known_range is None
    costs.note("vector_add 1: 2^28", COMPANY_S)
    assert RoundCosts(GPU, tmp_path).costs == pytest.approx([COMPANY_S])


def test_costs_with_company_become_usual_only_if_they_stay_alike(tmp_path: Path) -> None:
    """One timing in twenty without it, and the range stays."""
    costs = noted(tmp_path, USUAL)
    known = costs.known_range
    for _ in range(3):
        noted(tmp_path, [COMPANY_S] * (STRAYS - 1) + [305e-6])
    uneven = [COMPANY_S, 380e-6] * STRAYS
    assert noted(tmp_path, uneven).known_range == pytest.approx(known, rel=0.005)


def test_a_lasting_change_of_round_costs_replaces_the_range(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    noted(tmp_path, USUAL)
    began, found = time.time(), []
    for number in range(2 * STRAYS + 1):
        # The second twenty come after enough time; in between, the judge has restarted.
        monkeypatch.setattr(time, "time", lambda late=number >= 2 * STRAYS - 1: began + late * LASTING_S)
        costs = RoundCosts(GPU, tmp_path)
        found.append(costs.is_usual(360e-6 + number % 2 * 1e-6))
        costs.note("vector_add 1: 2^28", 360e-6 + number % 2 * 1e-6)
    assert found == [False] * 2 * STRAYS + [True]
    assert not costs.is_usual(306e-6)


def test_the_file_is_bounded(tmp_path: Path) -> None:
    costs = noted(tmp_path, USUAL * 10)
    for number in range(WORKLOADS + 10):
        costs.note(f"workload {number}", 305e-6)
    assert len(json.loads(file_of(tmp_path).read_text())["workloads_us"]) == WORKLOADS
    assert costs.usual("vector_add 1: 2^28") is None, "forgotten: it was timed least lately"
    assert RoundCosts(GPU, tmp_path).known_range == costs.known_range


def test_the_estimate_uses_similar_earlier_costs() -> None:
    """Of two states of a GPU, 1.4 us apart, only the current one."""
    usual = Usual([305e-6] * 20 + [306.4e-6] * 20)
    low, error = usual.refine(305.3e-6, 0.1e-6)
    assert low == pytest.approx(305e-6, abs=0.02e-6)
    assert error < 0.2e-6 / 20**0.5
    high, _ = usual.refine(306.2e-6, 0.1e-6)
    assert high == pytest.approx(306.4e-6, abs=0.02e-6)
    assert usual.refine(308e-6, 0.1e-6) == (308e-6, 0.1e-6), "more than chance"
    assert Usual([305e-6] * 5).refine(305.1e-6, 0.1e-6) == (305.1e-6, 0.1e-6), "too few"


@pytest.mark.parametrize("cost", [math.nan, math.inf, 0.0, -1e-6])
def test_an_impossible_cost_is_ignored(tmp_path: Path, cost: float) -> None:
    """It changes neither the range, by which everyone would have company, nor the file, which would be
    ignored after a restart.
    """
    costs = noted(tmp_path, [cost, *USUAL, cost])
    assert costs.known_range == pytest.approx((306e-6 * 0.95, 306e-6 * 1.05))
    assert RoundCosts(GPU, tmp_path).known_range == costs.known_range


def test_stored_costs_are_listed_without_a_gpu(tmp_path: Path) -> None:
    noted(tmp_path, USUAL)
    file_of(tmp_path).with_name("GPU-other.json").write_text("{")
    (found,) = kept_in(tmp_path)
    assert found.machine == GPU
    assert found.known_range is not None
    assert kept_in(tmp_path / "nowhere") == []
