"""The displayed wait, from the queue at one moment."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest

from grader.languages import Language
from grader.records.durations import Durations, Work
from grader.records.forecast import Arrival, Closing, Running
from grader.records.order import Waiting
from grader.records.queues import Pauses
from grader.service.submissions.waiting import Expected, QueueSnapshot, QueueWorkers, expected

NOW = datetime(2026, 1, 1, tzinfo=UTC)
WORK, LONG = Work("vector_add", Language.TRITON), Work("matmul", Language.TRITON)
KNOWN = Durations(usual=2.0, works={WORK: 2.0, LONG: 20.0}, outliers={(7, WORK.challenge): 84.0})


def waiting(id: int, due: float = 0.0, user: int = 1, work: Work = WORK) -> Waiting:
    return Waiting(id, user, 0, NOW.timestamp() + due, work)


def waits(
    *queue: Waiting,
    running: Sequence[Running] = (),
    workers: int = 2,
    known: Durations = KNOWN,
    coming: Sequence[Expected] = (),
) -> list[float]:
    names = [str(number) for number in range(workers)]
    snapshot = QueueSnapshot(
        device="cpu",
        waiting=queue,
        durations=known,
        running=dict(zip(names, running, strict=False)),
        pauses=Pauses({}),
        judges=QueueWorkers(names),
        compilers=QueueWorkers(()),
        arrivals=coming,
        now=NOW,
    )
    return [snapshot.waits[queued.id] for queued in queue]


def arrivals(rate: float, until: float = 0.0) -> list[Arrival]:
    """This many a second within the last minute, until ``until`` seconds from now."""
    times = [NOW - timedelta(seconds=number / rate) for number in range(int(60 * rate))]
    return [Arrival(time, 0, 0.0, WORK, None) for time in times if time <= NOW + timedelta(seconds=until)]


def test_work_ahead_is_shared_among_workers() -> None:
    queue = [
        waiting(1),
        waiting(2, user=2, work=LONG),
        waiting(3, user=3),
        waiting(4, user=4),
        waiting(5, user=7),
        waiting(6, user=6),
        waiting(7, user=5),
    ]
    assert waits(*queue) == [0.0, 0.0, 2.0, 4.0, 6.0, 20.0, 22.0], "what its author sent last took long"
    pausing = Durations(usual=2.0, pause=0.5)
    assert waits(*queue[:3], known=pausing, workers=1) == [0.0, 2.5, 5.0]


def test_an_endless_loop_occupies_its_worker_until_its_limit() -> None:
    loop = Running(9, WORK, elapsed=30.0)
    assert waits(waiting(1), running=[loop], workers=1) == [30.0]
    assert waits(waiting(1), waiting(2), running=[loop]) == [0.0, 2.0]


def test_an_author_waits_for_their_running_submission_if_others_wait() -> None:
    own = Running(1, WORK, elapsed=1.0)
    assert waits(waiting(1), waiting(2, user=2), waiting(3, user=3), running=[own]) == [1.0, 0.0, 2.0]
    assert waits(waiting(1), running=[own]) == [0.0], "nobody else waits"
    assert waits(waiting(1), waiting(2), waiting(3, user=2)) == [0.0, 2.0, 0.0]
    for_staff = Running(1, WORK, elapsed=1.0, of_author=False)
    assert waits(waiting(1), waiting(2, user=2), running=[for_staff]) == [0.0, 1.0]


def test_overtaking_submissions_lengthen_the_wait() -> None:
    """Half a worker's time comes in, each 10 s ahead of the waiting one: two workers spend 2.5 s on it, one
    spends 5 s.
    """
    coming = [Expected(0, back=0.0, load=0.5, closes=None)]
    queue = waiting(1, due=10.0)
    others = [Running(2, WORK, elapsed=0.0)] * 2
    assert waits(queue, running=others, coming=coming) == [pytest.approx(2.0 / (1 - 0.25), abs=0.1)]
    loop = [Running(2, WORK, elapsed=0.0), Running(9, WORK, elapsed=10.0)]
    assert waits(queue, running=loop, coming=coming) == [pytest.approx(2.0 / (1 - 0.5), abs=0.1)]


def test_arrivals_are_expected_until_the_deadline() -> None:
    def load(closes_s: float | None, *came: Arrival) -> dict[datetime | None, float]:
        closes = {} if closes_s is None else {WORK.challenge: NOW + timedelta(seconds=closes_s)}
        return {flow.closes: round(flow.load, 2) for flow in expected(came, Closing(closes, {}), KNOWN, NOW)}

    came = arrivals(rate=2.0)
    assert load(None, *came) == {None: 4.0}
    assert load(30.0, *came) == {NOW + timedelta(seconds=30): 4.0}
    assert load(-20.0, *arrivals(rate=2.0, until=-20.0)) == {}, "nobody has come since"
    assert load(-20.0, *came) == {None: 4.0}, "late ones come as before"


def test_the_time_in_which_others_overtake_is_estimated() -> None:
    at = NOW.timestamp()
    coming = Expected(0, back=20.0, load=2.0, closes=NOW + timedelta(seconds=15))
    assert coming.before(waiting(1, due=20.0), at, 100.0) == 0.0, "they are put back as far"
    assert coming.before(waiting(1, due=30.0), at, 100.0) == 20.0
    assert coming.before(waiting(1, due=90.0), at, 100.0) == 30.0, "until the deadline"
    assert coming.before(waiting(1, due=90.0), at, 5.0) == 10.0, "until it begins"
