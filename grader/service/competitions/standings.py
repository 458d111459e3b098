"""Ranks teams by time, points or the sum of speedups. Scores within a board's resolution share a rank
(``grader.scoring.ranks``), the earlier first."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from grader import scoring
from grader.challenge.model import Grading
from grader.schemas.competition import Scoring

# For comparing sums of points.
_DIGITS = 9


@dataclass(frozen=True)
class Result:
    """``time_us`` None: no time counts; ``speedup`` None: no baseline. ``key`` orders simultaneous ones."""

    at: datetime
    time_us: float | None
    speedup: float | None
    points: float
    key: int = 0


@dataclass(frozen=True)
class Standing:
    """``rank`` None: nothing solved. ``score``: microseconds, points or speedups. ``sort``: smaller is better."""

    team: int
    rank: int | None
    score: float | None
    at: datetime | None
    solved: int
    best: Mapping[str, Result] = field(default_factory=dict)
    sort: tuple[float, float] = (0.0, 0.0)


def points_of(grading: Grading, worth: float, speedup: float | None, resolution: float) -> float:
    """Out of ``worth``: shares for correctness and each tier reached within ``resolution``."""
    most = grading.correctness_points + sum(tier.points for tier in grading.tiers)
    if most <= 0:
        return worth
    earned = grading.correctness_points
    reached = 0.0 if speedup is None else speedup * (1 + resolution)
    earned += sum(tier.points for tier in grading.tiers if reached >= tier.speedup)
    return worth * earned / most


def best_of(results: Sequence[Result], scoring_by: Scoring) -> Result | None:
    """Most points, largest speedup, or shortest time; of equals the earliest."""

    def order(result: Result) -> tuple[float, float, float, datetime, int]:
        untimed = 1.0 if result.time_us is None else 0.0
        if scoring_by is Scoring.POINTS:
            return (-round(result.points, _DIGITS), 0.0, 0.0, result.at, result.key)
        first = -(result.speedup or 0.0) if scoring_by is Scoring.SPEEDUPS else 0.0
        return (first, untimed, result.time_us or 0.0, result.at, result.key)

    return min(results, key=order, default=None)


def rank(
    teams: Mapping[int, Mapping[str, Sequence[Result]]], scoring_by: Scoring, resolution: float
) -> list[Standing]:
    """Best first. ``teams``: id -> challenge -> accepted judgements."""
    found = [_standing(team, of_challenge, scoring_by) for team, of_challenge in teams.items()]
    return among(found, scoring_by, resolution)


def among(found: Sequence[Standing], scoring_by: Scoring, resolution: float) -> list[Standing]:
    """Ranked among these alone."""
    scored = [standing for standing in found if standing.score is not None]
    ranked: list[Standing] = []
    if scoring_by is Scoring.TIME:
        # More solved comes before faster.
        for solved in sorted({_timed(standing) for standing in scored}, reverse=True):
            group = [standing for standing in scored if _timed(standing) == solved]
            ranked += _ranked(group, [standing.sort[1] for standing in group], resolution, len(ranked))
    elif scoring_by is Scoring.SPEEDUPS:
        ranked += _ranked(scored, [1 / -standing.sort[0] for standing in scored], resolution, 0)
    else:
        # Points are exact.
        ranked += _ranked(scored, [-standing.sort[0] for standing in scored], None, 0)
    ordered = sorted(ranked, key=lambda standing: (standing.rank or 0, standing.at, standing.team))
    rest = sorted(
        (standing for standing in found if standing.score is None), key=lambda standing: standing.team
    )
    return [*ordered, *rest]


def _timed(standing: Standing) -> int:
    return sum(result.time_us is not None for result in standing.best.values())


def _standing(team: int, of_challenge: Mapping[str, Sequence[Result]], scoring_by: Scoring) -> Standing:
    best = {
        challenge: result
        for challenge, results in of_challenge.items()
        if (result := best_of(results, scoring_by)) is not None
    }
    counting = list(best.values())
    if scoring_by is Scoring.POINTS:
        total = round(math.fsum(result.points for result in counting), _DIGITS)
        score, sort = (total, (-total, 0.0)) if total > 0 else (None, (1.0, 0.0))
    elif scoring_by is Scoring.SPEEDUPS:
        counting = [result for result in counting if result.speedup is not None]
        # Sorted: the last digit must not depend on the order of solving.
        total = math.fsum(result.speedup or 0.0 for result in counting)
        score, sort = (total, (-total, 0.0)) if total > 0 else (None, (1.0, 0.0))
    else:
        counting = [result for result in counting if result.time_us is not None]
        times = [result.time_us for result in counting if result.time_us is not None]
        # A single time stays exact.
        score = scoring.geometric_mean(times) if len(times) > 1 else next(iter(times), None)
        sort = (-float(len(times)), score) if score is not None else (1.0, 0.0)
    at = max((result.at for result in counting), default=None) if score is not None else None
    return Standing(team, None, score, at, len(best), best, sort)


def _ranked(
    group: Sequence[Standing], times: Sequence[float], resolution: float | None, above: int
) -> list[Standing]:
    """``times``: smaller is better; without ``resolution``, negated scores."""
    if resolution is None:
        ranks = [1 + sum(other > own for other in times) for own in times]
    else:
        ranks = scoring.ranks(times, resolution)
    return [
        Standing(tied.team, above + place, tied.score, tied.at, tied.solved, tied.best, tied.sort)
        for tied, place in zip(group, ranks, strict=True)
    ]


def swaps(ranks: Sequence[Mapping[int, int | None]]) -> tuple[int, int]:
    """Pairs of teams that swap between consecutive repeats, and pairs compared. Equal ranks have no order."""
    changed = compared = 0
    for before, after in itertools.pairwise(ranks):
        teams = [team for team in before if before[team] is not None and after.get(team) is not None]
        for number, one in enumerate(teams):
            for other in teams[number + 1 :]:
                compared += 1
                first = (before[one] or 0) - (before[other] or 0)
                second = (after[one] or 0) - (after[other] or 0)
                changed += first * second < 0
    return changed, compared
