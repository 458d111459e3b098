"""Claims a submission, has it judged, stores the result. Failures here are never the student's fault."""

from __future__ import annotations

import secrets
import socket
import threading
import time
from dataclasses import replace
from datetime import datetime

import structlog

from grader.challenge.loader import Challenge
from grader.device_kinds import compiled_ahead
from grader.errors import BoxUnavailable, JudgeFailure
from grader.judge.compilation import kernels_request
from grader.judge.job import Job, JudgingProgress, Outcome
from grader.judge.process import Cancelled
from grader.logs import get_logger
from grader.queue.coordinator import AWAY, FAILED, Coordinator, ServedChallenge
from grader.queue.finaliser import Finaliser, check_version, words
from grader.queue.gpu_health import GpuHealth
from grader.queue.heartbeat import Heartbeat, HeldLease
from grader.queue.judge import Judge
from grader.queue.sandbox_health import SandboxHealth
from grader.records.baselines import BaselineKey
from grader.records.claims import Claim
from grader.sandbox.toolkit import nvcc_version
from grader.schemas.artefact import Artefact
from grader.schemas.own_case import OwnCase
from grader.schemas.report import Report
from grader.schemas.submission import State
from grader.schemas.verdict import Fault

log = get_logger(__name__)

_SEED_KEY_BYTES = 32


class Executor:
    def __init__(
        self,
        coordinator: Coordinator,
        device: str,
        judge: Judge,
        heartbeat: Heartbeat,
        stopping: threading.Event,
        gpu_health: GpuHealth | None = None,
    ) -> None:
        self._coordinator = coordinator
        self._device = device
        self._judge = judge
        self._heartbeat = heartbeat
        self._stopping = stopping
        self._gpu_health = gpu_health
        self._machine = gpu_health.gpu_uuid if gpu_health is not None else socket.gethostname()
        self._finaliser = Finaliser(coordinator, stopping)
        self._sandbox_health = SandboxHealth(judge, self._finaliser.set_sandbox_fault)

    def serve_one(self) -> bool:
        """False if nothing waits. Only this machine can take a final, so after one it takes the next
        submission without a wake-up.
        """
        served = False
        while (held := self._serve_next()) is not None:
            served = True
            if not held.final:
                break
        return served

    def _serve_next(self) -> Claim | None:
        if self._stopping.is_set():
            return None
        held = self._coordinator.claim(self._device, nvcc_version(), self._machine)
        if held is None:
            return None
        with (
            structlog.contextvars.bound_contextvars(**held.context, worker=self._coordinator.name),
            self._heartbeat.hold(held) as lease,
        ):
            log.info("judging", language=held.language.value, device=held.device)
            self._serve(held, lease)
        self._sandbox_health.wait(self._stopping)
        return held

    def _serve(self, held: Claim, lease: HeldLease) -> None:
        try:
            served = self._served(held)
            outcome = self._have_judged(held, served, lease)
            report = outcome.report
            if report.verdict.row.fault is Fault.PLATFORM:
                self._judge_failed(held, report.detail or "The judge failed.", report)
            else:
                if self._gpu_health is not None:
                    self._gpu_health.record_success()
                self._finaliser.finish(held, report, served.version, outcome.quiz)
        except Cancelled:
            self._finaliser.give_back(held)
        except (JudgeFailure, BoxUnavailable, OSError) as error:
            log.exception("judge_failed")
            self._judge_failed(held, words(error), None)
        except AWAY as error:
            self._finaliser.give_back_away(held, error)
        except Exception as error:
            # Any error: a submission must always finish.
            log.exception("judge_failed")
            self._finaliser.fail(held, words(error), None)

    def _served(self, held: Claim) -> ServedChallenge:
        served = self._coordinator.serve(held.challenge)
        check_version(held, served.version.version)
        return served

    def _have_judged(self, held: Claim, served: ServedChallenge, lease: HeldLease) -> Outcome:
        key = BaselineKey(
            held.challenge, served.version.version, self._judge.device_model, self._judge.torch_version
        )
        health = self._gpu_health
        drawn = self._coordinator.draws(held, key, health.calibration_key if health is not None else None)
        job = Job(
            submission=held.public_id,
            catalogue=str(served.root),
            challenge=held.challenge,
            language=held.language,
            source=held.source,
            fingerprint=served.version.fingerprint,
            device=held.device,
            # Not stored: hosts share no secret, and data that a box saw before its host died are worthless
            # later. In a competition all compared submissions get the same data.
            seed_key=drawn.seed_key or secrets.token_hex(_SEED_KEY_BYTES),
            baselines=drawn.baselines,
            ceilings=dict(drawn.ceilings),
            artefact=self._artefact(held, served.challenge),
            context={**held.context, "worker": self._coordinator.name},
            public_only=held.run,
            own_case=OwnCase.model_validate_json(held.own_case) if held.own_case is not None else None,
            workloads=list(drawn.workloads),
            quiz=not (held.run or held.rejudge or held.competition is not None),
        )
        writer = _ProgressWriter(self._coordinator, held)
        outcome = self._judge.run(job, writer, lambda: self._must_end(lease))
        if outcome.baselines:
            # The challenge may have a new version since it was loaded.
            judged = replace(key, version=outcome.report.version)
            self._finaliser.write(
                lambda: self._coordinator.freeze(held, judged, outcome.baselines, served.version)
            )
        return outcome

    def _artefact(self, held: Claim, challenge: Challenge) -> Artefact | None:
        key = held.artefact or self._kernels_key(held, challenge)
        return self._coordinator.artefact(key) if key is not None else None

    def _kernels_key(self, held: Claim, challenge: Challenge) -> str | None:
        if not compiled_ahead(held.device, held.language):
            return None
        try:
            return kernels_request(challenge, held.language, held.source, self._judge.architecture).key()
        except Exception:
            log.exception("kernels_not_looked_up")
            return None

    def _must_end(self, lease: HeldLease) -> bool:
        return lease.cancel_requested or lease.lost or self._stopping.is_set()

    def _judge_failed(self, held: Claim, error: str, report: Report | None) -> None:
        """If this host or its GPU is at fault, the submission loses no attempt."""
        if not self._stopping.is_set() and (why := self._sandbox_health.lost(alone=self._gpu_health is None)):
            self._finaliser.give_back(held, why)
        elif (
            self._gpu_health is not None and not self._stopping.is_set() and self._gpu_health.record_failure()
        ):
            self._finaliser.give_back(held)
        else:
            self._finaliser.fail(held, error, report)


class _ProgressWriter:
    def __init__(self, coordinator: Coordinator, held: Claim) -> None:
        self._coordinator = coordinator
        self._held = held
        self._state: State | None = None
        self._since: datetime | None = None
        self._written = 0.0

    def __call__(self, news: JudgingProgress) -> None:
        now = time.monotonic()
        if news.state is self._state and now - self._written < self._coordinator.progress_s:
            return
        if news.state is not self._state:
            self._since = None
        self._state, self._written = news.state, now
        view, begins = news.progress.model_copy(update={"since": self._since}), self._since is None
        try:
            self._since = self._coordinator.progress(self._held, news.state, view, begins).since
        except FAILED as error:
            log.warning("progress_not_written", error=type(error).__name__)
