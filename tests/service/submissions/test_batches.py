"""Submissions in bulk: lines in, results out, within the sender's limits and behind people's submissions."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from grader import limits
from grader.errors import BadRequest, Conflict, NotFound, TooMany
from grader.records.engine import writing
from grader.records.models import BatchEntryRow, BatchRow, SubmissionRow, utcnow
from grader.schemas.batch import BatchQuery, BatchReceipt
from grader.schemas.report import Verdict
from grader.schemas.submission import JudgingReason, State
from grader.schemas.token import Scope
from grader.service.accounts import tokens
from grader.service.accounts.accounts import User
from grader.service.operation import retention
from grader.service.platform import Platform, open_platform
from grader.service.submissions import batches, run
from grader.service.submissions.cancel import cancel
from grader.service.submissions.submit import submit
from tests.service.queues.builders import fail, judge, take
from tests.service.world import body, make_settings

pytestmark = pytest.mark.both_databases


@pytest.fixture
def platform(tmp_path: Path, redis_url: str, database: str) -> Iterator[Platform]:
    opened = open_platform(make_settings(tmp_path, redis_url, quota=6, waiting_per_user=4, devices="cpu"))
    yield opened
    opened.close()


def line(number: int, **values: Any) -> dict[str, Any]:
    return {
        "id": f"k{number}",
        "challenge": "scale",
        "filename": "a.py",
        "source": f"x = {number}\n",
    } | values


def send(platform: Platform, user: User, *lines: Any, name: str = "b", first: int = 1) -> BatchReceipt:
    raw = "\n".join(each if isinstance(each, str) else json.dumps(each) for each in lines)
    return batches.receive(platform, user, BatchQuery(name=name, first_line=first), raw.encode())


def read(platform: Platform, user: User, batch: str, after: int = 0) -> list[dict[str, Any]]:
    return [json.loads(text) for text in batches.results(platform, user, batch, after)]


def queued(platform: Platform) -> int:
    with platform.sessions() as session:
        return session.query(SubmissionRow).where(SubmissionRow.finished_at.is_(None)).count()


class TestTheWayOfABatch:
    def test_entries_enter_the_queue_within_the_limits_and_results_come_in_order(
        self, platform: Platform, student: User
    ) -> None:
        sent = send(platform, student, *map(line, range(4)))
        assert (sent.new, sent.known, sent.refused) == (4, 0, 0)
        # Of four places two are left for the student's own.
        assert (sent.batch.open, sent.batch.held, queued(platform)) == (2, 2, 2)
        assert submit(platform, student, body()).state is State.QUEUED
        judge(platform)  # the student's
        judge(platform, Verdict.WRONG_ANSWER)
        judge(platform)
        first, second = read(platform, student, sent.batch.id)
        assert [(each["number"], each["id"], each["line"]) for each in (first, second)] == [
            (1, "k0", 1),
            (2, "k1", 2),
        ]
        assert (first["state"], first["verdict"], second["time_us"]) == ("done", "wrong_answer", 10.0)
        assert (second["ci"], second["passed"], second["total"]) == ([9.0, 11.0], 1, 1)
        assert queued(platform) == 2, "the results' reader lets the next ones in"
        for _ in range(2):
            judge(platform)
        assert [each["id"] for each in read(platform, student, sent.batch.id, after=2)] == ["k2", "k3"]
        view = batches.get_batch(platform, student, sent.batch.id)
        assert (view.ended, view.held, view.open, view.counts) == (
            4, 0, 0, {"wrong_answer": 1, "accepted": 3},
        )  # fmt: skip
        assert view.finished_at is not None

    def test_a_sweep_lets_the_next_ones_in_though_nobody_looks(
        self, platform: Platform, student: User
    ) -> None:
        send(platform, student, *map(line, range(4)))
        for _ in range(2):
            judge(platform)
        assert batches.admit_all(platform) == 2
        for _ in range(2):
            judge(platform)
        assert batches.admit_all(platform) == 0
        assert batches.list_batches(platform, student).batches[0].finished_at is not None

    def test_processes_that_admit_at_once_store_nothing_twice(
        self, platform: Platform, student: User
    ) -> None:
        send(platform, student, *map(line, range(6)))
        for _ in range(2):
            judge(platform)
        together = threading.Barrier(3)

        def admit() -> None:
            together.wait()
            batches.admit_all(platform)

        threads = [threading.Thread(target=admit) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert queued(platform) == 2
        with platform.sessions() as session:
            assert session.query(SubmissionRow).count() == 4
            assert session.query(BatchEntryRow).where(BatchEntryRow.submission_id.is_not(None)).count() == 4

    def test_a_used_up_quota_holds_its_challenge_only_and_says_so(
        self, platform: Platform, student: User
    ) -> None:
        for _ in range(6):
            submit(platform, student, body())
            judge(platform)
        sent = send(platform, student, line(1), line(2, run=True))
        assert (sent.batch.held, sent.batch.open) == (1, 1)
        assert sent.batch.held_for.startswith("You have used 6 of 6 submissions for scale")
        with platform.sessions() as session:
            assert session.query(SubmissionRow).where(SubmissionRow.kind == JudgingReason.RUN).count() == 1

    def test_a_failure_of_ours_is_a_result(self, platform: Platform, student: User) -> None:
        sent = send(platform, student, line(1))
        fail(platform)
        (found,) = read(platform, student, sent.batch.id)
        assert (found["state"], found["verdict"], found["error"]["code"]) == (
            "failed",
            "internal_error",
            "internal",
        )

    def test_a_batch_enters_no_competition_and_no_run_of_a_person_ends_its_runs(
        self, platform: Platform, student: User
    ) -> None:
        send(platform, student, line(1, run=True))
        run.run(platform, student, run.RunBody(challenge="scale", filename="a.py", source="y = 1\n"))
        assert queued(platform) == 2


class TestLines:
    def test_a_bad_line_is_refused_alone(self, platform: Platform, student: User) -> None:
        sent = send(
            platform,
            student,
            "{not json",
            "",
            line(1, challenge="nothing"),
            line(2, source=""),
            line(3, extra=1),
            '["a list"]',
            line(4, device="h900"),
            line(5),
            line(6, challenge="only_cuda"),
            first=10,
        )
        assert (sent.new, sent.refused, sent.batch.open) == (8, 7, 1)
        found = {each["line"]: (each["id"], each["error"]) for each in read(platform, student, sent.batch.id)}
        told = {number: (sender, error["message"]) for number, (sender, error) in found.items()}
        assert told == {
            10: (None, "Line 10: it is not JSON."),
            12: ("k1", "Line 12: There is no challenge 'nothing'."),
            13: ("k2", "Line 13: The source is empty."),
            14: ("k3", "Line 14: extra: Extra inputs are not permitted."),
            15: (None, told[15][1]),
            16: ("k4", "Line 16: This platform has no device 'h900'."),
            18: ("k6", "Line 18: only_cuda does not take triton."),
        }
        assert told[15][1].startswith("Line 15: the line: ")
        assert all(error["hint"] for _, error in found.values())

    def test_the_same_file_again_continues(self, platform: Platform, student: User) -> None:
        lines = [line(1), "{bad", line(2)]
        first = send(platform, student, *lines)
        again = send(platform, student, *lines, line(3))
        assert (again.new, again.known, again.batch.id) == (1, 3, first.batch.id)
        assert again.batch.total == 4
        assert send(platform, student, line(9), line(9)).new == 1

    def test_an_id_with_other_contents_is_refused(self, platform: Platform, student: User) -> None:
        send(platform, student, line(1))
        sent = send(platform, student, line(1, source="y = 2\n"))
        assert (sent.new, sent.refused) == (1, 1)
        (found,) = read(platform, student, sent.batch.id)
        assert (found["id"], found["submission"]) == ("k1", None)
        assert "'k1' belongs to a line with other contents" in found["error"]["message"]
        assert send(platform, student, line(1, source="y = 2\n")).known == 1

    def test_a_batch_is_bounded(
        self, platform: Platform, student: User, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(limits, "BATCH_ENTRIES", 2)
        monkeypatch.setattr(limits, "BATCHES_AT_ONCE", 1)
        monkeypatch.setattr(limits, "BATCH_LINE_BYTES", 200)
        with pytest.raises(BadRequest, match="no line"):
            send(platform, student, "", " ")
        with pytest.raises(BadRequest, match="would have 3 lines"):
            send(platform, student, *map(line, range(3)))
        assert batches.list_batches(platform, student).batches == []
        assert send(platform, student, line(1), line(2, source="x" * 300)).refused == 1
        with pytest.raises(TooMany, match="1 of your batches"):
            send(platform, student, line(1), name="other")


class TestCancelling:
    def test_it_ends_all_that_has_not_begun(self, platform: Platform, student: User, other: User) -> None:
        sent = send(platform, student, *map(line, range(4)))
        take(platform)
        with pytest.raises(NotFound):
            batches.cancel(platform, other, sent.batch.id)
        view = batches.cancel(platform, student, sent.batch.id)
        assert (view.open, view.held, view.counts) == (1, 0, {"cancelled": 3})
        assert batches.cancel(platform, student, sent.batch.id) == view
        assert batches.admit_all(platform) == 0
        with pytest.raises(Conflict, match="was cancelled"):
            send(platform, student, line(9))
        with platform.sessions() as session:
            running = session.query(SubmissionRow).where(SubmissionRow.finished_at.is_(None)).one()
        cancel(platform, student, running.public_id)
        assert len(read(platform, student, sent.batch.id)) == 3


class TestTokens:
    def with_limits(self, platform: Platform, user: User, **given: Any) -> tuple[User, str]:
        wish = tokens.TokenRequest(scopes=[Scope.READ, Scope.SUBMIT], **given)
        token = tokens.issue(platform, user, wish).token
        return tokens.user_of_token(platform, token), token

    def test_a_token_has_limits_of_its_own(self, platform: Platform, student: User) -> None:
        agent, _ = self.with_limits(platform, student, at_once=1)
        sent = send(platform, agent, line(1), line(2))
        assert (sent.batch.open, sent.batch.held) == (1, 1)
        assert "limit of this token is 1 waiting or running" in sent.batch.held_for
        with pytest.raises(TooMany, match="of this token"):
            submit(platform, agent, body())
        assert submit(platform, student, body()).state is State.QUEUED
        daily, _ = self.with_limits(platform, student, per_day=1)
        run.run(platform, daily, run.RunBody(challenge="scale", filename="a.py", source="y = 1\n"))
        with pytest.raises(TooMany, match="limit of this token is 1 within 24 h") as caught:
            submit(platform, daily, body())
        assert "UTC, in 24 h" in caught.value.hint
        shown = tokens.list_tokens(platform, student).tokens
        assert [(each.per_day, each.at_once) for each in shown] == [(1, None), (None, 1)]

    def test_a_revoked_token_stops_its_batch_until_the_file_is_sent_again(
        self, platform: Platform, student: User
    ) -> None:
        agent, token = self.with_limits(platform, student)
        lines = [line(number) for number in range(4)]
        send(platform, agent, *lines)
        tokens.revoke_token(platform, token)
        for _ in range(2):
            judge(platform)
        assert batches.admit_all(platform) == 0
        (held,) = batches.list_batches(platform, student).batches
        assert (held.ended, held.held) == (2, 2)
        assert held.held_for.startswith("Its token has ended")
        agent, _ = self.with_limits(platform, student)
        assert send(platform, agent, *lines).batch.open == 2


def test_results_are_waited_for_only_so_long(platform: Platform, student: User) -> None:
    sent = send(platform, student, line(1))
    pauses: list[float] = []

    def pause(seconds: float) -> None:
        pauses.append(seconds)
        judge(platform)

    found = batches.results(platform, student, sent.batch.id, wait_s=60.0, pause=pause)
    assert len(found) == len(pauses) == 1
    assert batches.results(platform, student, sent.batch.id, after=1, wait_s=60.0, pause=pause) == []


def test_busy_threads_wait_for_nobody(
    platform: Platform, student: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken = threading.BoundedSemaphore(1)
    taken.acquire()
    monkeypatch.setattr(batches, "_waits", taken)
    sent = send(platform, student, line(1))
    assert (
        batches.results(platform, student, sent.batch.id, wait_s=60.0, pause=lambda _: pytest.fail("waits"))
        == []
    )


def test_old_batches_go_and_their_submissions_stay(platform: Platform, student: User) -> None:
    sent = send(platform, student, line(1))
    judge(platform)
    read(platform, student, sent.batch.id)
    assert retention.prune(platform, None).batches == 0
    with writing(platform.sessions) as session:
        row = session.query(BatchRow).one()
        row.finished_at = utcnow() - timedelta(days=limits.BATCH_DAYS + 1)
    assert retention.prune(platform, None, dry_run=False).batches == 1
    with platform.sessions() as session:
        assert (session.query(BatchEntryRow).count(), session.query(SubmissionRow).count()) == (0, 1)


def test_a_broken_batch_does_not_hold_up_others(
    platform: Platform, student: User, other: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    send(platform, student, *map(line, range(4)))
    send(platform, other, *map(line, range(4)))
    for _ in range(4):
        judge(platform)
    with writing(platform.sessions) as session:
        for row in session.query(BatchEntryRow).where(BatchEntryRow.user_id == student.id):
            row.request = "not what was stored" if row.request else None
    assert batches.admit_all(platform) == 2


def test_the_sender_is_read_again(platform: Platform, student: User) -> None:
    """Scopes of a token, not of the account."""
    token = tokens.issue(platform, student, tokens.TokenRequest(scopes=[Scope.READ]))
    reader = tokens.user_of_token(platform, token.token)
    sent = send(platform, replace(reader), line(1))
    assert (sent.batch.open, sent.batch.held_for[:19]) == (0, "Its token has ended")
