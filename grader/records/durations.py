"""How long judgements take: what recent ones tell of the next."""

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

# So many recent judgements tell how long the next ones take.
SAMPLE = 100
# A judgement of more than so many times the usual time is an outlier, such as an endless loop, while at most a tenth
# of those who submit have any: it says what its author's next one takes, and nothing of anybody else's.
OUTLIER = 3.0
_OUTLIERS = 0.1
# For as long an outlier is expected again, as it puts its author back in the queue.
_REMEMBERED = timedelta(hours=1)
# What is known of all judgements counts as so many of the same work.
_PRIOR = 2.0


class Work(NamedTuple):
    """What is judged, as far as its time depends on it. ``run``: by the public cases alone."""

    challenge: str
    language: Language
    run: bool = False

    @classmethod
    def of(cls, challenge: str, language: Language, kind: JudgingReason) -> Work:
        return cls(challenge, language, kind is JudgingReason.RUN)


@dataclass(frozen=True)
class Judged:
    """One judgement, from the claim that ended with a verdict to that verdict."""

    user: int
    work: Work
    created: datetime
    claimed: datetime
    finished: datetime

    @property
    def seconds(self) -> float:
        # Two clocks that disagree may say that it ended before it began.
        return max(0.0, (self.finished - self.claimed).total_seconds())


@dataclass(frozen=True)
class Durations:
    """How long judgements keep a worker of a device busy, seconds. ``usual``: the mean of recent ones without outliers,
    each author counted once; ``works``: the same of each work, drawn towards ``usual`` where few are known;
    ``outliers``: of each author and challenge whose last one was an outlier, what that took; ``spans``: all recent ones
    of each work. ``pause``: the mean from the end of one to the same worker's next while that one waited.
    """

    usual: float
    works: Mapping[Work, float] = field(default_factory=dict)
    outliers: Mapping[tuple[int, str], float] = field(default_factory=dict)
    spans: Mapping[Work, Sequence[float]] = field(default_factory=dict)
    pause: float = 0.0

    def of(self, work: Work, user: int | None = None) -> float:
        """What the next one of that user will take; of no one in particular, where there is none."""
        usual = self.works.get(work, self.usual)
        return usual if user is None else self.outliers.get((user, work.challenge), usual)

    def left(self, elapsed: float, work: Work, user: int, endless: float, limit: float) -> float:
        """Seconds until one ends that has run for ``elapsed``: as those of its work did that ran longer. If none did,
        as long again, which grows while people wait; from ``OUTLIER`` times the usual on it is taken for an endless
        loop, which is ended after about ``endless`` seconds. After ``limit`` it ends in any case.
        """
        expected = self.of(work, user)
        if elapsed < expected:
            return expected - elapsed
        if longer := [it for it in self.spans.get(work, ()) if it > elapsed]:
            return sum(longer) / len(longer) - elapsed
        if OUTLIER * expected < elapsed < endless:
            return endless - elapsed
        return min(elapsed, max(limit - elapsed, 0.0))


def durations(session: Session, device: str, now: datetime) -> Durations | None:
    """None without a history. From the last claim on: what is compiled ahead and waits holds up nobody meanwhile."""
    found = _recent(session, device)
    if found is None:
        return None
    # Of the last hour, not of the sample: who sends endless loops sends the next one later than a hundred others.
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
    """``last``: of each author and challenge the last one."""
    long = [it for it in last if it.seconds > OUTLIER * found.of(it.work)]
    return replace(found, outliers={(it.user, it.work.challenge): it.seconds for it in long})


def mean_seconds(session: Session, device: str) -> float | None:
    """How long one submission usually keeps a worker of ``device`` busy; None without a history."""
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
    """What these say, the newest first; nothing of outliers to come. None of nothing."""
    spans: dict[Work, list[float]] = defaultdict(list)
    authors: dict[Work, dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
    for it in judged:
        spans[it.work].append(it.seconds)
        authors[it.work][it.user].append(it.seconds)
    if not spans:
        return None
    means = {
        work: _without_outliers([statistics.fmean(it) for it in of.values()]) for work, of in authors.items()
    }
    usual = statistics.fmean(each for it in means.values() for each in it)
    works = {work: (sum(it) + _PRIOR * usual) / (len(it) + _PRIOR) for work, it in means.items()}
    return Durations(usual, works, {}, spans, _pause(judged))


def _without_outliers(seconds: list[float]) -> list[float]:
    bound = OUTLIER * statistics.median_low(seconds)
    usual = [it for it in seconds if it <= bound]
    return seconds if len(seconds) - len(usual) > max(1, _OUTLIERS * len(seconds)) else usual


def _pause(judged: Sequence[Judged]) -> float:
    """Seconds from one's end until its worker takes the next, where that waited already. A row forgets its worker when
    it ends; but who takes the next is a worker that is free, and which of them does not matter to the mean. One that
    was free for longer than a lease was away.
    """
    ends = deque(sorted(it.finished for it in judged))
    free: list[datetime] = []
    pauses = []
    for it in sorted(judged, key=lambda it: it.claimed):
        while ends and ends[0] <= it.claimed:
            free.append(ends.popleft())
        if free:
            since = free.pop()
            pause = (it.claimed - since).total_seconds()
            if it.created <= since and pause <= limits.LEASE_SECONDS:
                pauses.append(pause)
    return statistics.fmean(pauses) if pauses else 0.0
