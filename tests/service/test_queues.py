"""What staff do with queues, what a submission is said to wait for, and what it uses up."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from redis import Redis

from grader.errors import BadRequest, Conflict, GraderError, NotAllowed, NotFound, TooMany
from grader.queue.sweeper import Swept, sweep
from grader.records import claims, leases, workers
from grader.records.claims import Claim
from grader.records.engine import writing
from grader.records.models import SubmissionRow, utcnow
from grader.schemas.queue import WorkerState
from grader.schemas.report import CaseReport, CaseVerdict, Language, Report, Score, Verdict
from grader.schemas.submission import Kind, State, SubmissionView, WaitReason
from grader.service import queues
from grader.service.accounts import User
from grader.service.cancel import cancel
from grader.service.health import health
from grader.service.platform import Platform, open_platform
from grader.service.quotas import get_quotas
from grader.service.submissions import get_submission
from grader.service.submit import submit
from grader.settings import Settings
from tests.service.world import body, make_settings

BOARD = "h200"
CUDA = {"filename": "a.cu", "source": "// nothing\n", "device": BOARD}


@pytest.fixture
def settings(tmp_path: Path, redis_url: str, database: str) -> Settings:
    """A worker that is entered here stays alive, however slow the machine is."""
    return make_settings(tmp_path, redis_url, lease_s=60.0)


@pytest.fixture
def small(tmp_path: Path, redis_url: str, database: str) -> Any:
    """The same platform with a board, and with narrow quotas."""
    values: dict[str, Any] = {
        "lease_s": 60.0,
        "quota": 2,
        "quota_hours": 1.0,
        "devices": f"cpu,{BOARD}",
        "waiting_per_user": 3,
    }
    platform = open_platform(make_settings(tmp_path, redis_url, **values))
    yield platform
    platform.close()


def _register(platform: Platform, name: str, device: str = "cpu", compiles: bool = False) -> None:
    with writing(platform.sessions) as session:
        workers.register(session, name, device, list(Language), utcnow(), compiles=compiles)


def _take(platform: Platform, device: str = "cpu") -> Claim:
    with writing(platform.sessions) as session:
        held = claims.claim(session, device, list(Language), "w", utcnow(), 30.0)
    assert held is not None
    return held


def _report(verdict: Verdict = Verdict.ACCEPTED) -> Report:
    kind = CaseVerdict.ACCEPTED if verdict is Verdict.ACCEPTED else CaseVerdict.WRONG_ANSWER
    accepted = verdict is Verdict.ACCEPTED
    return Report(
        verdict=verdict,
        challenge="scale",
        version=1,
        language=Language.TRITON,
        device="cpu",
        cases=[
            CaseReport(name="one", category="basic", verdict=kind, detail="" if accepted else "0 is not 1")
        ],
        score=Score(
            time_us=10.0 if accepted else None,
            ci=(9.0, 11.0) if accepted else None,
            passed=int(accepted),
            total=1,
        ),
    )


def _judge(platform: Platform, verdict: Verdict = Verdict.ACCEPTED) -> None:
    held = _take(platform)
    with writing(platform.sessions) as session:
        assert leases.finish(session, held, _report(verdict), utcnow())


def _fail(platform: Platform) -> None:
    held = _take(platform)
    with writing(platform.sessions) as session:
        cap = platform.settings.attempts
        session.get_one(SubmissionRow, held.id).failures = cap
        session.flush()
        assert leases.give_back(session, held.id, held.attempt, utcnow(), error="oh", cap=cap) is State.FAILED


def _reason(platform: Platform, user: User, sent: str) -> WaitReason | None:
    waits_for = get_submission(platform, user, sent).waits_for
    return waits_for.reason if waits_for else None


class TestPauses:
    def test_only_staff(self, platform: Platform, student: User) -> None:
        acts: list[Callable[[], object]] = [
            lambda: queues.pause_queue(platform, student, "cpu", ""),
            lambda: queues.resume_queue(platform, student, "cpu"),
            lambda: queues.list_workers(platform, student),
            lambda: queues.drain_worker(platform, student, "w"),
            lambda: queues.resume_worker(platform, student, "w"),
            lambda: queues.set_kind(platform, student, "scale", Kind.COMPETITION),
            lambda: queues.get_kind(platform, student, "scale"),
        ]
        for act in acts:
            with pytest.raises(NotAllowed):
                act()
        assert queues.list_queues(platform).queues[0].name == "cpu"

    @pytest.mark.parametrize("name", ["h100", "", "run:cpu", "x" * 500])
    def test_there_is_no_such_queue(self, platform: Platform, staff: User, name: str) -> None:
        for act in (
            lambda: queues.pause_queue(platform, staff, name, ""),
            lambda: queues.resume_queue(platform, staff, name),
        ):
            with pytest.raises(NotFound, match="no queue"):
                act()

    def test_a_reason_is_a_line_and_not_a_book(self, platform: Platform, staff: User) -> None:
        found = queues.pause_queue(platform, staff, "cpu", "  a new\n\tdriver ")
        paused = found.queues[0].paused
        assert paused is not None
        assert paused.reason == "a new driver"
        with pytest.raises(BadRequest):
            queues.pause_queue(platform, staff, "cpu", "x" * 501)

    @pytest.mark.parametrize("name", ["cpu", "all"])
    def test_submissions_are_taken_and_kept_and_told_why(
        self, platform: Platform, student: User, staff: User, name: str
    ) -> None:
        _register(platform, "w")
        before = utcnow() - timedelta(seconds=5)
        queues.pause_queue(platform, staff, name, "a new driver")
        sent = submit(platform, student, body())
        assert (sent.state, sent.position, sent.expected_wait_s) == (State.QUEUED, 1, None)
        assert sent.waits_for is not None
        assert sent.waits_for.reason is WaitReason.PAUSED
        assert sent.waits_for.text.endswith(": a new driver.")
        assert sent.waits_for.since is not None
        assert before < sent.waits_for.since <= utcnow() + timedelta(seconds=5)
        found = queues.list_queues(platform)
        assert (found.paused is not None) == (name == "all")
        assert (found.queues[0].waiting, found.queues[0].workers) == (1, 1)
        queues.resume_queue(platform, staff, name)
        assert _reason(platform, student, sent.id) is WaitReason.NEXT
        _judge(platform)

    def test_it_is_an_alert_for_staff(self, platform: Platform, staff: User) -> None:
        queues.pause_queue(platform, staff, "compile", "a new toolkit")
        (alert,) = health(platform).alerts
        assert "The queue compile is paused since 20" in alert.text
        assert alert.text.endswith("UTC: a new toolkit")
        assert alert.mend == "grader admin queue resume compile"

    def test_nothing_is_issued_while_it_is_paused_and_all_of_it_afterwards(
        self, platform: Platform, student: User, staff: User
    ) -> None:
        for _ in range(3):
            submit(platform, student, body())
        queues.pause_queue(platform, staff, "cpu", "")
        client = Redis.from_url(platform.settings.queue_url)
        client.flushall()
        client.close()
        assert [sweep(platform), sweep(platform)] == [Swept(), Swept()]
        assert platform.tickets.waiting("run:cpu") == 0
        queues.resume_queue(platform, staff, "cpu")
        assert platform.tickets.waiting("run:cpu") == 3, "at once, not with the next sweep"

    def test_it_outlives_a_restart(
        self, platform: Platform, student: User, staff: User, tmp_path: Path, redis_url: str
    ) -> None:
        queues.pause_queue(platform, staff, "cpu", "")
        again = open_platform(make_settings(tmp_path, redis_url))
        assert _reason(again, student, submit(again, student, body()).id) is WaitReason.PAUSED
        again.close()

    def test_compiling_alone(self, small: Platform, student: User, staff: User) -> None:
        _register(small, "c", "", compiles=True)
        _register(small, "gpu", BOARD)
        queues.pause_queue(small, staff, "compile", "")
        sent = submit(small, student, body(**CUDA)).id
        seen = get_submission(small, student, sent).waits_for
        assert seen is not None
        assert seen.text == "Staff have paused compiling."
        assert sweep(small).tickets == 0
        triton = submit(small, student, body(device=BOARD))
        assert (triton.position, _reason(small, student, triton.id)) == (1, WaitReason.NEXT)


class TestWords:
    def test_places_and_who_is_missing(self, small: Platform, student: User, other: User) -> None:
        first = submit(small, student, body()).id
        seen = get_submission(small, student, first).waits_for
        assert seen is not None
        assert (seen.reason, seen.since) == (WaitReason.NO_WORKER, None), "there never was one"
        assert "serves cpu" in seen.text
        _register(small, "w")
        assert _reason(small, student, first) is WaitReason.NEXT
        second = submit(small, other, body()).id
        third = submit(small, student, body()).id
        texts = [
            get_submission(small, user, it).waits_for for user, it in ((other, second), (student, third))
        ]
        assert [it.text for it in texts if it] == [
            "One submission is ahead of it.",
            "2 submissions are ahead of it.",
        ]
        with writing(small.sessions) as session:
            workers.leave(session, "w", utcnow())
        seen = get_submission(small, student, first).waits_for
        assert seen is not None
        assert seen.reason is WaitReason.NO_WORKER
        assert seen.since is not None, "since when the last one was heard of"
        _take(small)
        assert get_submission(small, student, first).waits_for is None

    def test_cuda_waits_for_who_compiles(self, small: Platform, student: User) -> None:
        _register(small, "gpu", BOARD)
        sent = submit(small, student, body(**CUDA)).id
        assert _reason(small, student, sent) is WaitReason.NO_COMPILER
        triton = submit(small, student, body(device=BOARD))
        assert (triton.position, _reason(small, student, triton.id)) == (1, WaitReason.NEXT)
        assert get_submission(small, student, sent).position == 2
        _register(small, "c", "", compiles=True)
        assert _reason(small, student, sent) is WaitReason.NEXT

    def test_the_wait_counts_those_who_work(
        self, platform: Platform, student: User, other: User, staff: User
    ) -> None:
        for name in ("one", "two"):
            _register(platform, name)
        submit(platform, student, body())
        held = _take(platform)
        with writing(platform.sessions) as session:
            session.get_one(SubmissionRow, held.id).claimed_at = utcnow() - timedelta(seconds=8)
        with writing(platform.sessions) as session:
            assert leases.finish(session, held, _report(), utcnow())

        def waits() -> list[int]:
            seen = [get_submission(platform, user, it) for user, it in sent]
            return [round(it.expected_wait_s) for it in seen if it.expected_wait_s is not None]

        sent = [(student, submit(platform, student, body(source=f"x = {n}\n")).id) for n in range(4)]
        assert waits() == [0, 0, 4, 8], "two are free: they take one each, then one in four seconds is done"
        for _ in range(2):
            _take(platform)
        assert waits() == [2, 6], "half of their time is over, on average"
        queues.drain_worker(platform, staff, "two")
        assert waits() == [4, 12], "what the drained one has does not hold up the other"
        queues.drain_worker(platform, staff, "one")
        assert waits() == []
        assert _reason(platform, student, sent[2][1]) is WaitReason.DRAINING


class TestWorkers:
    def test_they_are_listed_with_what_they_do(self, platform: Platform, student: User, staff: User) -> None:
        for name in ("w", "idle"):
            _register(platform, name)
        _register(platform, "compiler", "", compiles=True)
        with writing(platform.sessions) as session:
            workers.register(session, "old", "cpu", [], utcnow() - timedelta(minutes=5))
            workers.register(session, "older", "cpu", [], utcnow() - timedelta(days=5))
            workers.leave(session, "older", utcnow())
        sent = submit(platform, student, body()).id
        _take(platform)
        found = {it.name: it for it in queues.list_workers(platform, staff).workers}
        assert {name: it.state for name, it in found.items()} == {
            "w": WorkerState.WORKING,
            "idle": WorkerState.IDLE,
            "compiler": WorkerState.IDLE,
            "old": WorkerState.SILENT,
        }
        assert found["w"].submission == sent
        for name, state in (("w", WorkerState.DRAINING), ("idle", WorkerState.DRAINED)):
            queues.drain_worker(platform, staff, name)
            found = {it.name: it for it in queues.drain_worker(platform, staff, name).workers}
            assert found[name].state is state
            assert found[name].drained_at is not None
        found = {it.name: it for it in queues.resume_worker(platform, staff, "w").workers}
        assert (found["w"].state, found["w"].drained_at) == (WorkerState.WORKING, None)

    @pytest.mark.parametrize("act", [queues.drain_worker, queues.resume_worker])
    def test_there_is_no_such_worker(
        self, platform: Platform, staff: User, act: Callable[..., object]
    ) -> None:
        with pytest.raises(NotFound, match="no worker"):
            act(platform, staff, "nobody")


class TestKinds:
    def test_staff_choose_and_leave_it_to_the_track(
        self, platform: Platform, student: User, staff: User
    ) -> None:
        assert submit(platform, student, body()).kind is Kind.COURSE
        assert queues.set_kind(platform, staff, "scale", Kind.COMPETITION).chosen
        urgent = submit(platform, student, body())
        assert (urgent.kind, urgent.position) == (Kind.COMPETITION, 1)
        found = queues.set_kind(platform, staff, "scale", None)
        assert (found.kind, found.chosen) == (Kind.COURSE, False)
        with pytest.raises(BadRequest, match="rejudges"):
            queues.set_kind(platform, staff, "scale", Kind.REJUDGE)

    def test_a_track_may_be_practice(self, platform: Platform, student: User, staff: User) -> None:
        tracks = "".join(
            f'[[tracks]]\ntitle = "{title}"\ndescription = "d"\n{kind}'
            for title, kind in (("first", 'kind = "practice"\n'), ("second", ""))
        )
        (platform.course.root / "challenges" / "tracks.toml").write_text(tracks)
        assert submit(platform, student, body()).kind is Kind.PRACTICE
        assert queues.get_kind(platform, staff, "only_cuda").kind is Kind.COURSE

    @pytest.mark.parametrize("field", ["kind", "priority"])
    def test_no_request_says_it(self, field: str) -> None:
        with pytest.raises(ValueError, match=field):
            body(**{field: "competition"})


class TestKeys:
    @pytest.mark.parametrize(
        "change",
        [
            {"source": "y = 2\n"},
            {"device": "cpu"},
            {"challenge": "only_cuda", "filename": "a.cu", "device": BOARD},
            {"language": "cuda", "device": BOARD},
        ],
    )
    def test_of_something_else_is_a_conflict(
        self, small: Platform, student: User, change: dict[str, str]
    ) -> None:
        first = submit(small, student, body(), "key")
        with pytest.raises(Conflict, match=first.id):
            submit(small, student, body(**change), "key")
        assert get_quotas(small, student, "scale").submissions.used == 1
        assert submit(small, student, body(), "key").id == first.id

    def test_the_first_comes_back_whatever_has_changed_since(self, small: Platform, student: User) -> None:
        first = submit(small, student, body(device=BOARD), "key")
        gone = open_platform(small.settings.model_copy(update={"devices": "cpu"}))
        assert submit(gone, student, body(device=BOARD), "key").id == first.id
        gone.close()

    def test_rows_of_earlier_releases_have_no_digest(self, platform: Platform, student: User) -> None:
        first = submit(platform, student, body(), "key")
        with writing(platform.sessions) as session:
            session.query(SubmissionRow).update({"request_sha256": None})
        assert submit(platform, student, body(source="y = 2\n"), "key").id == first.id


class TestReuse:
    def test_what_was_judged_before_comes_back_and_costs_nothing(
        self, small: Platform, student: User
    ) -> None:
        first = submit(small, student, body())
        _judge(small, Verdict.WRONG_ANSWER)
        again = submit(small, student, body(reuse=True, filename="other.py"))
        assert (again.id, again.reused, again.verdict) == (first.id, True, Verdict.WRONG_ANSWER)
        assert get_quotas(small, student, "scale").submissions.used == 1
        submit(small, student, body())
        _judge(small)
        with pytest.raises(TooMany):
            submit(small, student, body())
        assert submit(small, student, body(reuse=True)).verdict is Verdict.ACCEPTED, (
            "the latest; at the limit, too"
        )

    def test_unless_it_is_asked_for_it_is_judged_anew(self, platform: Platform, student: User) -> None:
        first = submit(platform, student, body())
        _judge(platform)
        again = submit(platform, student, body())
        assert (again.reused, again.id != first.id) == (False, True)

    @pytest.mark.parametrize(
        "change", [{"source": "x = 1 \n"}, {"device": BOARD}, {"language": "cuda", "device": BOARD}]
    )
    def test_something_else_is_judged(self, small: Platform, student: User, change: dict[str, str]) -> None:
        submit(small, student, body())
        _judge(small)
        assert not submit(small, student, body(reuse=True, **change)).reused

    def test_nobody_gets_anothers(self, platform: Platform, student: User, other: User) -> None:
        submit(platform, other, body())
        _judge(platform)
        assert not submit(platform, student, body(reuse=True)).reused

    def test_of_another_version_or_kind_is_judged(
        self, platform: Platform, student: User, staff: User
    ) -> None:
        submit(platform, student, body())
        _judge(platform)
        queues.set_kind(platform, staff, "scale", Kind.COMPETITION)
        assert not submit(platform, student, body(reuse=True)).reused
        queues.set_kind(platform, staff, "scale", None)
        path = platform.course.root / "challenges" / "scale" / "challenge.toml"
        path.write_text(path.read_text().replace("version = 1", "version = 2").replace("2.0", "4.0"))
        assert not submit(platform, student, body(reuse=True)).reused

    def test_neither_what_waits_nor_what_we_failed_nor_what_was_cancelled(
        self, platform: Platform, student: User
    ) -> None:
        submit(platform, student, body())
        waiting = submit(platform, student, body(reuse=True))
        assert not waiting.reused
        cancel(platform, student, waiting.id)
        _fail(platform)
        assert not submit(platform, student, body(reuse=True)).reused


class TestQuotas:
    def test_a_challenge_takes_so_many_and_says_when_more(self, small: Platform, student: User) -> None:
        assert [submit(small, student, body()).remaining for _ in range(2)] == [1, 0]
        with pytest.raises(TooMany, match="2 are the most") as caught:
            submit(small, student, body())
        assert "UTC on, in 60 min" in caught.value.hint
        found = get_quotas(small, student, "scale")
        assert (found.submissions.used, found.submissions.remaining, found.waiting.used) == (2, 0, 2)
        assert found.submissions.frees_at is not None
        assert get_quotas(small, student, "only_cuda").submissions.remaining == 2

    def test_a_refusal_uses_nothing_up(self, small: Platform, student: User) -> None:
        for _ in range(2):
            submit(small, student, body())
        for _ in range(4):
            with pytest.raises(TooMany):
                submit(small, student, body())
        assert get_quotas(small, student, "scale").waiting.used == 2
        assert submit(small, student, body(**CUDA, challenge="only_cuda")).state is State.QUEUED

    def test_our_failure_and_a_cancellation_before_it_ran_give_it_back(
        self, small: Platform, student: User
    ) -> None:
        submit(small, student, body())
        _fail(small)
        cancel(small, student, submit(small, student, body()).id)
        assert get_quotas(small, student, "scale").submissions.used == 0
        submit(small, student, body())
        _judge(small, Verdict.WRONG_ANSWER)
        assert get_quotas(small, student, "scale").submissions.used == 1
        assert get_quotas(small, student, "scale").waiting.used == 0

    def test_rejudges_are_on_nobodys_account(self, small: Platform, student: User, staff: User) -> None:
        from grader.service.rejudge import rejudge

        submit(small, student, body())
        _judge(small)
        path = small.course.root / "challenges" / "scale" / "challenge.toml"
        path.write_text(path.read_text().replace("version = 1", "version = 2").replace("2.0", "4.0"))
        assert rejudge(small, staff, "scale").queued == 1
        with small.sessions() as session:
            again = session.query(SubmissionRow).where(SubmissionRow.rejudge_of.is_not(None)).one()
        assert (again.kind, again.priority < 0) == (Kind.REJUDGE, True)
        found = get_quotas(small, student, "scale")
        assert (found.submissions.used, found.waiting.used) == (1, 0)

    @pytest.mark.parametrize("limit", [{"quota": 1, "waiting_per_user": 100}, {"waiting_per_user": 1}])
    def test_fifty_at_once_at_a_limit_of_one(
        self, tmp_path: Path, redis_url: str, database: str, limit: dict[str, Any]
    ) -> None:
        from grader.service.accounts import create_user

        platform = open_platform(make_settings(tmp_path, redis_url, **limit))
        user = create_user(platform, "ada", "correct horse")
        together = threading.Barrier(10)

        def post(number: int) -> SubmissionView | GraderError:
            together.wait()
            try:
                return submit(platform, user, body(source=f"x = {number}\n"))
            except GraderError as error:
                return error

        with ThreadPoolExecutor(10) as pool:
            answers = list(pool.map(post, range(50)))
        assert sum(isinstance(it, SubmissionView) for it in answers) == 1
        assert sum(isinstance(it, TooMany) for it in answers) == 49
        with platform.sessions() as session:
            assert session.query(SubmissionRow).count() == 1
        platform.close()
