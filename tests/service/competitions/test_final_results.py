"""The results of a final from its repeats, without a database."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from grader.challenge.model import Grading
from grader.records.models import FinalRunRow, SubmissionRow, utcnow
from grader.schemas.competition import Scoring
from grader.schemas.report import Verdict
from grader.schemas.submission import State
from grader.service.competitions import final_results
from grader.service.competitions.final_results import Runs

ADA, BOB = 1, 2


def _runs(team: int, *repeats: tuple[float, float | None]) -> Runs:
    """Time (microseconds) and speedup of each."""
    return [
        (
            FinalRunRow(team_id=team, challenge="a", repeat=number),
            SubmissionRow(
                challenge="a",
                state=State.DONE,
                verdict=Verdict.ACCEPTED,
                time_us=time_us,
                speedup=speedup,
                rejudge_of=team,
            ),
        )
        for number, (time_us, speedup) in enumerate(repeats, 1)
    ]


@pytest.mark.parametrize(
    ("first", "speedups"), [((100.0, None), {ADA: 2.0, BOB: 1.0}), ((100.0, 2.0), {ADA: 2.0, BOB: 1.0})]
)
def test_repeats_before_the_first_baseline_get_a_speedup(
    first: tuple[float, float | None], speedups: dict[int, float], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Baselines of hidden sizes are measured in the final's first judgements; all speedups use the same ones."""
    monkeypatch.setattr(final_results, "gradings", lambda *_: {"a": (Grading(), 100.0)})
    monkeypatch.setattr(final_results, "_firsts", lambda *_: dict.fromkeys((ADA, BOB), utcnow()))
    session: Any = SimpleNamespace(scalars=lambda _: [])
    competition: Any = SimpleNamespace(id=1, scoring=Scoring.SPEEDUPS)
    final: Any = SimpleNamespace(device="h200")
    platform: Any = None
    runs = [*_runs(ADA, first, (101.0, 200 / 101), (99.0, 200 / 99)), *_runs(BOB, *[(200.0, 1.0)] * 3)]
    found = final_results.of_runs(platform, session, competition, final, runs)
    assert {standing.team: standing.score for standing in found.standings} == pytest.approx(speedups)
    alone = final_results.of_runs(platform, session, competition, final, runs, repeat=1)
    assert {standing.team: standing.score for standing in alone.standings} == pytest.approx(speedups)


def test_without_any_baseline_there_is_no_speedup(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(final_results, "gradings", lambda *_: {"a": (Grading(), 100.0)})
    monkeypatch.setattr(final_results, "_firsts", lambda *_: {ADA: utcnow()})
    session: Any = SimpleNamespace(scalars=lambda _: [])
    competition: Any = SimpleNamespace(id=1, scoring=Scoring.SPEEDUPS)
    platform: Any = None
    final: Any = SimpleNamespace(device="h200")
    runs = _runs(ADA, (100.0, None), (101.0, None))
    (standing,) = final_results.of_runs(platform, session, competition, final, runs).standings
    assert (standing.score, standing.rank) == (None, None)
