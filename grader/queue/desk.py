"""Serves one submission: claims it, has it judged, records what came out. Whatever fails here is never the
student's fault.
"""

from __future__ import annotations

import hashlib
import hmac
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

import structlog
from sqlalchemy.exc import OperationalError, SQLAlchemyError
from sqlalchemy.orm import Session

from grader.errors import BoxUnavailable, GraderError, JudgeFailure
from grader.judge.job import Job, Outcome, Progress
from grader.judge.process import Cancelled
from grader.queue.heart import Grip, Heart
from grader.queue.judge import Judge
from grader.queue.station import Station
from grader.records import baselines, leases
from grader.records.baselines import Bench
from grader.records.engine import writing
from grader.records.leases import Claim
from grader.records.models import utcnow
from grader.schemas.report import Report, Verdict
from grader.schemas.submission import State
from grader.service.devices import languages_of
from grader.service.platform import Platform

log = structlog.get_logger(__name__)
T = TypeVar("T")

# Progress within a state is written at most this often: it is for eyes, and each time is a transaction.
_PROGRESS_SECONDS = 0.2
# A verdict must not be lost to a database that is away for a moment.
_WRITE_PAUSES_S = (0.2, 1.0, 3.0)


class Desk:
    """One worker's desk: one judge, one submission at a time. ``stopping`` set: let go of it and take no
    other. ``station`` is the worker's GPU, where it has one.
    """

    # After a failure of ours, so that a broken engine does not fail a whole queue within a second.
    pause_after_failure_s = 1.0

    def __init__(
        self,
        platform: Platform,
        judge: Judge,
        heart: Heart,
        name: str,
        stopping: threading.Event,
        station: Station | None = None,
    ) -> None:
        self._platform = platform
        self._judge = judge
        self._heart = heart
        self._name = name
        self._stopping = stopping
        self._station = station

    def serve_one(self) -> bool:
        """Claim the next submission of this worker's device and bring it to an end; False where nothing
        waits.
        """
        if self._stopping.is_set():
            return False
        held = self._claim()
        if held is None:
            return False
        with (
            structlog.contextvars.bound_contextvars(
                worker=self._name, submission=held.public_id, attempt=held.attempt, challenge=held.challenge
            ),
            self._heart.hold(held) as grip,
        ):
            log.info("judging", language=held.language.value, device=held.device)
            self._serve(held, grip)
        return True

    def _claim(self) -> Claim | None:
        settings = self._platform.settings
        device = settings.device
        with writing(self._platform.sessions) as session:
            return leases.claim(session, device, languages_of(device), self._name, utcnow(), settings.lease_s)

    def _serve(self, held: Claim, grip: Grip) -> None:
        try:
            report = self._have_judged(held, grip).report
            if report.verdict is Verdict.INTERNAL_ERROR:
                self._judge_failed(held, report.detail or "The judge failed.", report)
            else:
                if self._station is not None:
                    self._station.went_well()
                self._finish(held, report)
        except Cancelled:
            self._let_go(held)
        except (JudgeFailure, BoxUnavailable) as error:
            log.exception("judge_failed")
            self._judge_failed(held, _words(error), None)
        except Exception as error:
            # Any error at all: a submission that stays unfinished for ever is the worst a judge can do.
            log.exception("judge_failed")
            self._failed(held, _words(error), None)

    def _have_judged(self, held: Claim, grip: Grip) -> Outcome:
        platform = self._platform
        version = platform.course.load(held.challenge).manifest.version
        bench = Bench(held.challenge, version, self._judge.device_model, self._judge.torch_version)
        with platform.sessions() as session:
            frozen = baselines.read(session, bench)
            ceilings = self._station.ceilings(session) if self._station is not None else {}
        job = Job(
            submission=held.public_id,
            course=str(platform.course.root),
            challenge=held.challenge,
            language=held.language,
            source=held.source,
            device=held.device,
            seed_key=seed_key(platform.settings.secret("seeds"), held.public_id),
            baselines=frozen,
            ceilings=ceilings,
        )
        outcome = self._judge.run(job, _ProgressWriter(platform, held), lambda: self._must_end(grip))
        if outcome.baselines:
            # The challenge may have got a new version since it was loaded here: the times are of what was judged.
            judged = replace(bench, version=outcome.report.version)
            self._write(lambda session: baselines.freeze(session, judged, outcome.baselines))
        return outcome

    def _must_end(self, grip: Grip) -> bool:
        return grip.cancel_requested or grip.lost or self._stopping.is_set()

    def _finish(self, held: Claim, report: Report) -> None:
        stored = self._write(lambda session: leases.finish(session, held, report, utcnow()))
        log.info("judged" if stored else "late_result_dropped", verdict=report.verdict.value)

    def _let_go(self, held: Claim) -> None:
        """The judge was told to end it: cancelled by its user, or this worker stops, or the lease was lost."""
        state = self._write(lambda session: leases.give_back(session, held.id, held.attempt, utcnow()))
        log.info("let_go", state=state.value if state else "lost")
        if state is State.QUEUED:
            self._platform.tickets.enqueue(held.device)

    def _judge_failed(self, held: Claim, error: str, report: Report | None) -> None:
        """A failure that may be the GPU's. Where it is, another worker judges this, and it costs no try."""
        if self._station is not None and not self._stopping.is_set() and self._station.went_wrong():
            self._let_go(held)
        else:
            self._failed(held, error, report)

    def _failed(self, held: Claim, error: str, report: Report | None) -> None:
        cap = self._platform.settings.attempts
        state = self._write(
            lambda session: leases.give_back(
                session, held.id, held.attempt, utcnow(), error=error, cap=cap, report=report
            )
        )
        log.warning("our_failure", state=state.value if state else "lost", error=error)
        self._stopping.wait(self.pause_after_failure_s)
        if state is State.QUEUED:
            self._platform.tickets.enqueue(held.device)

    def _write(self, change: Callable[[Session], T]) -> T:
        for pause in _WRITE_PAUSES_S:
            try:
                with writing(self._platform.sessions) as session:
                    return change(session)
            except OperationalError as error:
                log.warning("write_tried_again", error=type(error).__name__)
                time.sleep(pause)
        with writing(self._platform.sessions) as session:
            return change(session)


class _ProgressWriter:
    """Maps the judge's progress into the record: every new state, and what happens within it now and then."""

    def __init__(self, platform: Platform, held: Claim) -> None:
        self._platform = platform
        self._held = held
        self._state: State | None = None
        self._written = 0.0

    def __call__(self, news: Progress) -> None:
        now = time.monotonic()
        if news.state is self._state and now - self._written < _PROGRESS_SECONDS:
            return
        self._state, self._written = news.state, now
        try:
            with writing(self._platform.sessions) as session:
                leases.progress(session, self._held, news.state, news.progress)
        except SQLAlchemyError as error:
            log.warning("progress_not_written", error=type(error).__name__)


def seed_key(secret: bytes, submission: str) -> str:
    """What the case seeds of one submission derive from; hex. Nobody can tell it from the submission's id."""
    return hmac.new(secret, submission.encode(), hashlib.sha256).hexdigest()


def _words(error: Exception) -> str:
    """What a person may read: our own errors were written for that, others may name paths and are logged
    only.
    """
    if isinstance(error, GraderError):
        return f"{error.message} {error.hint}".strip()
    return f"An unexpected error in the judge ({type(error).__name__})."
