from __future__ import annotations

import statistics
from collections import defaultdict, deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import NamedTuple

from sqlalchemy import ColumnElement, Executable, exists, select
from sqlalchemy.orm import Session, aliased

from grader import limits
from grader.languages import Language
from grader.records.epoch import Seconds
from grader.records.models import SubmissionRow
from grader.schemas.submission import JudgingReason, State

SAMPLE = 100
# A judgement longer than this factor of the usual is an outlier, such as an endless loop, if at most a tenth
# of the authors have any. It predicts only its author's next one.
OUTLIER = 3.0
_OUTLIERS = 0.1
_REMEMBERED = timedelta(hours=1)
# Weight of the mean over all work, in judgements of the same work.
_PRIOR = 2.0


class Work(NamedTuple):
    challenge: str
    language: Language
    run: bool = False

    @classmethod
    def of(cls, challenge: str, language: Language, kind: JudgingReason) -> Work:
        return cls(challenge, language, kind is JudgingReason.RUN)


@dataclass(frozen=True)
class Judged:
    """From the claim that led to its verdict."""

    user: int
    work: Work
    created: datetime
    claimed: datetime
    finished: datetime

    @property
    def seconds(self) -> float:
        # Clocks may disagree.
        return max(0.0, (self.finished - self.claimed).total_seconds())


@dataclass(frozen=True)
class Durations:
    # Mean without outliers, each author counted once.
    usual: float
    # Drawn towards ``usual`` if few are known.
    works: Mapping[Work, float] = field(default_factory=dict)
    outliers: Mapping[tuple[int, str], float] = field(default_factory=dict)
    spans: Mapping[Work, Sequence[float]] = field(default_factory=dict)
    # Between two judgements of a worker if the second one waited.
    pause: float = 0.0

    def of(self, work: Work, user: int | None = None) -> float:
        """Expected duration of the user's next one, or of anybody's."""
        usual = self.works.get(work, self.usual)
        return usual if user is None else self.outliers.get((user, work.challenge), usual)

    def left(self, elapsed: float, work: Work, user: int, endless: float, limit: float) -> float:
        """Expected seconds until a judgement that has run for ``elapsed`` ends: the mean of those of its work
        that ran longer. Without any, twice ``elapsed``; beyond ``OUTLIER`` times the usual it counts as an
        endless loop, which takes about ``endless`` seconds. ``limit`` ends it in any case.
        """
        expected = self.of(work, user)
        if elapsed < expected:
            return expected - elapsed
        if longer := [span for span in self.spans.get(work, ()) if span > elapsed]:
            return sum(longer) / len(longer) - elapsed
        if OUTLIER * expected < elapsed < endless:
            return endless - elapsed
        return min(elapsed, max(limit - elapsed, 0.0))


def durations(session: Session, device: str, now: datetime) -> Durations | None:
    """None without a history. Counts from the last claim."""
    found = _recent(session, device)
    if found is None:
        return None
    # Not from the sample: an author may send a loop again after a hundred other submissions.
    table, later = SubmissionRow, aliased(SubmissionRow)
    superseded = exists().where(
        later.user_id == table.user_id,
        later.challenge == table.challenge,
        later.device == device,
        later.state == State.DONE,
        later.finished_at > table.finished_at,
    )
    long = Seconds(table.finished_at) - Seconds(table.claimed_at) > OUTLIER * min(found.works.values())
    lately = (*_judged_on(device), table.finished_at > now - _REMEMBERED)
    return with_outliers(found, _read(session, select(*_COLUMNS).where(*lately, long, ~superseded)))


def with_outliers(found: Durations, last: Iterable[Judged]) -> Durations:
    long = [judgement for judgement in last if judgement.seconds > OUTLIER * found.of(judgement.work)]
    return replace(
        found, outliers={(judgement.user, judgement.work.challenge): judgement.seconds for judgement in long}
    )


def mean_seconds(session: Session, device: str) -> float | None:
    found = _recent(session, device)
    return found.usual if found is not None else None


_COLUMNS = (
    SubmissionRow.user_id,
    SubmissionRow.challenge,
    SubmissionRow.language,
    SubmissionRow.kind,
    SubmissionRow.created_at,
    SubmissionRow.claimed_at,
    SubmissionRow.finished_at,
)


def _judged_on(device: str) -> tuple[ColumnElement[bool], ...]:
    table = SubmissionRow
    return (table.device == device, table.state == State.DONE, table.claimed_at.is_not(None))


def _recent(session: Session, device: str) -> Durations | None:
    query = select(*_COLUMNS).where(*_judged_on(device))
    return durations_of(_read(session, query.order_by(SubmissionRow.finished_at.desc()).limit(SAMPLE)))


def _read(session: Session, query: Executable) -> list[Judged]:
    return [
        Judged(user, Work.of(challenge, language, kind), created, claimed, finished)
        for user, challenge, language, kind, created, claimed, finished in session.execute(query)
        if finished is not None
    ]


def durations_of(judged: Sequence[Judged]) -> Durations | None:
    """``judged`` is newest first. None without any."""
    spans: dict[Work, list[float]] = defaultdict(list)
    authors: dict[Work, dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
    for judgement in judged:
        spans[judgement.work].append(judgement.seconds)
        authors[judgement.work][judgement.user].append(judgement.seconds)
    if not spans:
        return None
    means = {
        work: _without_outliers([statistics.fmean(seconds) for seconds in of.values()])
        for work, of in authors.items()
    }
    usual = statistics.fmean(each for seconds in means.values() for each in seconds)
    works = {
        work: (sum(seconds) + _PRIOR * usual) / (len(seconds) + _PRIOR) for work, seconds in means.items()
    }
    return Durations(usual, works, {}, spans, _pause(judged))


def _without_outliers(seconds: list[float]) -> list[float]:
    bound = OUTLIER * statistics.median_low(seconds)
    usual = [each for each in seconds if each <= bound]
    return seconds if len(seconds) - len(usual) > max(1, _OUTLIERS * len(seconds)) else usual


def _pause(judged: Sequence[Judged]) -> float:
    """Mean seconds from the end of a judgement until its worker takes a waiting one.

    A row forgets its worker, so any free worker takes the next: the mean is the same.
    """
    ends = deque(sorted(judgement.finished for judgement in judged))
    free: list[datetime] = []
    pauses = []
    for judgement in sorted(judged, key=lambda judgement: judgement.claimed):
        while ends and ends[0] <= judgement.claimed:
            free.append(ends.popleft())
        if free:
            since = free.pop()
            pause = (judgement.claimed - since).total_seconds()
            if judgement.created <= since and pause <= limits.LEASE_SECONDS:
                pauses.append(pause)
    return statistics.fmean(pauses) if pauses else 0.0
