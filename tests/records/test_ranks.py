from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import delete

from grader.languages import Language
from grader.records import baselines
from grader.records.baselines import BaselineKey
from grader.records.engine import Sessions, writing
from grader.records.models import SubmissionRow, UserRow
from grader.records.ranks import Board, boards, ranked, record_steps
from grader.schemas.report import Verdict
from grader.schemas.submission import LeaderboardEntry, State
from tests.records.rows import DEVICE, add_submission, add_user

_START = datetime(2024, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Try:
    user: int
    time: int
    below: int
    above: int
    accepted: bool = True
    language: Language = Language.TRITON
    version: int = 1
    device: str = DEVICE

    @property
    def low(self) -> int:
        return self.time - self.below

    @property
    def high(self) -> int:
        return self.time + self.above


_tries = st.lists(
    st.builds(
        Try,
        user=st.integers(0, 4),
        time=st.integers(10, 20),
        below=st.integers(0, 4),
        above=st.integers(0, 4),
        accepted=st.sampled_from([True, True, True, False]),
        language=st.sampled_from(list(Language)),
        version=st.sampled_from([1, 1, 1, 2]),
        device=st.sampled_from([DEVICE, DEVICE, DEVICE, "h200"]),
    ),
    max_size=12,
)


def _store(sessions: Sessions, tries: list[Try]) -> None:
    with writing(sessions) as session:
        session.execute(delete(SubmissionRow))
        session.execute(delete(UserRow))
    users = {
        number: add_user(sessions, f"u{number}") for number in sorted({attempt.user for attempt in tries})
    }
    for number, attempt in enumerate(tries):
        add_submission(
            sessions,
            users[attempt.user],
            public_id=f"{number:010}",
            state=State.DONE,
            verdict=Verdict.ACCEPTED if attempt.accepted else Verdict.WRONG_ANSWER,
            language=attempt.language,
            version=attempt.version,
            device=attempt.device,
            created_at=_START + timedelta(seconds=number),
            time_us=float(attempt.time),
            ci_lo_us=float(attempt.low),
            ci_hi_us=float(attempt.high),
        )


def _model(tries: list[Try], language: Language | None) -> list[tuple[int, str, str]]:
    """The rule in plain Python: rank, user, submission."""
    best: dict[int, tuple[int, Try]] = {}
    for number, attempt in enumerate(tries):
        counts = attempt.accepted and attempt.version == 1 and attempt.device == DEVICE
        if not counts or (language and attempt.language is not language):
            continue
        if attempt.user not in best or attempt.time < best[attempt.user][1].time:
            best[attempt.user] = (number, attempt)
    entries = list(best.values())
    rows = []
    for number, entry in entries:
        # In integers: the board's resolution is a fifth.
        rank = 1 + sum(6 * other.time < 5 * entry.time for _, other in entries)
        rows.append((rank, number, entry.user))
    return [(rank, f"u{user}", f"{number:010}") for rank, number, user in sorted(rows)]


def _seen(entries: list[LeaderboardEntry]) -> list[tuple[int, str, str]]:
    return [(entry.rank, entry.user, entry.submission) for entry in entries]


@settings(
    max_examples=40,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(tries=_tries, language=st.sampled_from([None, *Language]))
def test_ranks_in_sql_match_the_rule(sessions: Sessions, tries: list[Try], language: Language | None) -> None:
    _store(sessions, tries)
    with sessions() as session:
        assert _seen(ranked(session, "vector_add", 1, DEVICE, language)) == _model(tries, language)


def test_times_within_the_resolution_share_a_rank_earlier_first(sessions: Sessions) -> None:
    _store(sessions, [Try(0, 11, 1, 1), Try(1, 10, 1, 1), Try(2, 20, 1, 1)])
    with sessions() as session:
        found = ranked(session, "vector_add", 1, DEVICE)
    assert [(entry.rank, entry.user) for entry in found] == [(1, "u0"), (1, "u1"), (3, "u2")]


def test_intervals_do_not_affect_ranks(sessions: Sessions) -> None:
    """Narrowing it, for example by a fast first round, gains nothing against an equal time."""
    _store(sessions, [Try(0, 100, 20, 20, device="h200"), Try(1, 101, 0, 0, device="h200")])
    with sessions() as session:
        assert [(entry.rank, entry.user) for entry in ranked(session, "vector_add", 1, "h200")] == [
            (1, "u0"),
            (2, "u1"),
        ]


def test_a_record_is_faster_by_more_than_the_resolution(sessions: Sessions) -> None:
    times = (1000, 999, 996, 995, 994, 990)
    _store(sessions, [Try(number % 5, time, 0, 0, device="h200") for number, time in enumerate(times)])
    with sessions() as session:
        steps = record_steps(session, Board("vector_add", 1, "h200"))
    assert [step.time_us for step in steps] == [1000, 995, 990]


def test_boards_are_the_devices_with_an_accepted_entry(sessions: Sessions) -> None:
    _store(sessions, [Try(0, 12, 1, 1, device="h200"), Try(0, 10, 4, 4, accepted=False)])
    with sessions() as session:
        assert boards(session, "vector_add", 1) == {"h200"}


def test_a_baseline_is_frozen_by_its_first_writer(sessions: Sessions) -> None:
    bench = BaselineKey("vector_add", 1, "some cpu", "2.8")
    with writing(sessions) as session:
        baselines.freeze(session, bench, {"large": {"eager": 5.0}})
    with writing(sessions) as session:
        baselines.freeze(session, bench, {"large": {"eager": 9.0, "compile": 3.0}, "small": {"eager": 1.0}})
    with sessions() as session:
        assert baselines.read(session, bench) == {
            "large": {"eager": 5.0, "compile": 3.0},
            "small": {"eager": 1.0},
        }
        assert baselines.read(session, BaselineKey("vector_add", 1, "some cpu", "2.9")) == {}
