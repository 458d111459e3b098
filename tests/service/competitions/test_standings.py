"""Rankings of competitions, as pure functions."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from grader.challenge.model import Grading, Tier
from grader.schemas.competition import Scoring
from grader.service.competitions import competition_boards, standings
from grader.service.competitions.competition_boards import Ranked
from grader.service.competitions.final_results import FinalResults
from grader.service.competitions.standings import Result

START = datetime(2026, 1, 1, tzinfo=UTC)
ADA, BOB, CAY = 1, 2, 3


def _result(
    minute: int, time_us: float | None = None, speedup: float | None = None, points: float = 0.0
) -> Result:
    return Result(START + timedelta(minutes=minute), time_us, speedup, points, minute)


def _ranks(
    teams: dict[int, dict[str, list[Result]]], scoring: Scoring, resolution: float = 0.0
) -> list[tuple[int, int | None, float | None]]:
    return [
        (standing.team, standing.rank, standing.score)
        for standing in standings.rank(teams, scoring, resolution)
    ]


def test_solving_more_ranks_above_being_faster() -> None:
    teams: dict[int, dict[str, list[Result]]] = {
        ADA: {"a": [_result(1, 100.0)], "b": [_result(2, 400.0)]},
        BOB: {"a": [_result(1, 1.0)]},
        CAY: {"a": []},
    }
    assert _ranks(teams, Scoring.TIME) == [(ADA, 1, pytest.approx(200.0)), (BOB, 2, 1.0), (CAY, None, None)]


def test_indistinguishable_times_share_a_rank_earlier_first() -> None:
    teams = {
        ADA: {"a": [_result(9, 100.0)]},
        BOB: {"a": [_result(3, 100.4)]},
        CAY: {"a": [_result(1, 101.0)]},
    }
    assert [(team, rank) for team, rank, _ in _ranks(teams, Scoring.TIME, 0.005)] == [
        (BOB, 1),
        (ADA, 1),
        (CAY, 3),
    ]


def test_a_rank_is_one_more_than_the_number_of_faster_teams() -> None:
    """Each ties with the next, and the first is faster than the third: nobody ranks below an equal of all above."""
    teams = {
        number: {"a": [_result(number, time)]} for number, time in enumerate((100.0, 100.4, 100.8, 101.2))
    }
    assert [rank for _, rank, _ in _ranks(teams, Scoring.TIME, 0.005)] == [1, 1, 2, 3]


def test_a_sum_of_speedups_does_not_depend_on_order() -> None:
    """In floating point 0.1 + 0.2 + 0.3 is not 0.3 + 0.2 + 0.1."""
    worth = {"a": 0.1, "b": 0.2, "c": 0.3}
    teams = {
        team: {challenge: [_result(1, 5.0, worth[challenge])] for challenge in order}
        for team, order in ((ADA, "abc"), (BOB, "cba"))
    }
    assert [rank for _, rank, _ in _ranks(teams, Scoring.SPEEDUPS)] == [1, 1]


def test_the_largest_speedup_counts() -> None:
    """The shorter time had no baseline yet, or that of an earlier torch."""
    teams = {ADA: {"a": [_result(1, 4.0, None), _result(2, 4.5, 1.5), _result(3, 5.0, 2.0)]}}
    assert _ranks(teams, Scoring.SPEEDUPS) == [(ADA, 1, 2.0)]
    best = standings.best_of([_result(1, 4.0, None), _result(2, 4.5, None)], Scoring.SPEEDUPS)
    assert best is not None
    assert best.key == 1


def test_teams_below_the_finalists_keep_their_ranks() -> None:
    """The third of them is behind the first only, before and after."""
    teams = {
        number: {"a": [_result(number, time)]} for number, time in enumerate((90.0, 100.0, 100.4, 100.8))
    }
    before = Ranked(standings.rank(teams, Scoring.TIME, 0.005), {}, {})
    assert [standing.rank for standing in before.standings] == [1, 2, 2, 3]
    final = FinalResults(standings.rank({0: teams[0]}, Scoring.TIME, 0.005), {})
    after = competition_boards._final(before, final, Scoring.TIME, 0.005)
    assert [(standing.team, standing.rank) for standing in after.standings] == [
        (0, 1),
        (1, 2),
        (2, 2),
        (3, 3),
    ]


def test_the_best_submission_counts_and_the_first_of_equals() -> None:
    results = [_result(1, None), _result(2, 50.0), _result(3, 20.0), _result(4, 20.0)]
    best = standings.best_of(results, Scoring.TIME)
    assert best is not None
    assert best.key == 3
    assert standings.best_of([], Scoring.TIME) is None


def test_equal_points_rank_by_the_moment_reached() -> None:
    teams = {
        ADA: {"a": [_result(1, 9.0, points=50), _result(8, 5.0, points=50)], "b": [_result(2, points=30)]},
        BOB: {"a": [_result(3, 1.0, points=80)]},
    }
    ranked = standings.rank(teams, Scoring.POINTS, 0.5)
    assert [(standing.team, standing.rank, standing.score) for standing in ranked] == [
        (ADA, 1, 80.0),
        (BOB, 1, 80.0),
    ]
    assert ranked[0].at == START + timedelta(minutes=2)


def test_speedups_are_summed() -> None:
    teams = {
        ADA: {"a": [_result(1, 5.0, 2.0)], "b": [_result(1, 5.0, 1.5)]},
        BOB: {"a": [_result(2, 2.0, 5.0)], "b": [_result(2, 9.0, None)]},
        CAY: {"a": [_result(1, 9.0, None)]},
    }
    assert _ranks(teams, Scoring.SPEEDUPS, 0.005) == [(BOB, 1, 5.0), (ADA, 2, 3.5), (CAY, None, None)]


@pytest.mark.parametrize(
    ("speedup", "points"),
    [(None, 70.0), (0.5, 70.0), (0.795, 70.0), (0.797, 90.0), (0.8, 90.0), (2.0, 100.0)],
)
def test_points_are_a_share_of_the_challenges_worth(speedup: float | None, points: float) -> None:
    grading = Grading(
        correctness_points=35, tiers=[Tier(speedup=0.8, points=10), Tier(speedup=0.95, points=5)]
    )
    assert standings.points_of(grading, 100.0, speedup, 0.005) == pytest.approx(points)
    assert standings.points_of(Grading(correctness_points=0), 40.0, speedup, 0.005) == 40.0


def test_rank_swaps_between_repeats_are_counted() -> None:
    assert standings.swaps(
        [{ADA: 1, BOB: 2, CAY: 3}, {ADA: 2, BOB: 1, CAY: 3}, {ADA: 1, BOB: 1, CAY: None}]
    ) == (
        1,
        4,
    )
