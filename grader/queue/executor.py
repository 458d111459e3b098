"""Claims a submission, has it judged, stores the result. Failures here are never the student's fault."""

from __future__ import annotations

import secrets
import socket
import threading
import time
from dataclasses import replace
from datetime import datetime
from functools import partial

import structlog
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from grader.device_kinds import compiled_ahead, languages_of
from grader.errors import BoxUnavailable, JudgeFailure
from grader.judge.compilation import kernels_request
from grader.judge.job import Job, JudgingProgress, Outcome
from grader.judge.process import Cancelled
from grader.logs import get_logger
from grader.queue.finaliser import Finaliser, check_version, words
from grader.queue.gpu_health import GpuHealth
from grader.queue.heartbeat import Heartbeat, HeldLease
from grader.queue.judge import Judge
from grader.queue.sandbox_health import SandboxHealth
from grader.records import artefacts, baselines, claims, competition_draws, leases, workers
from grader.records.baselines import BaselineKey
from grader.records.claims import Claim
from grader.records.engine import AWAY, clock, writing
from grader.sandbox.toolkit import nvcc_version
from grader.schemas.artefact import Artefact
from grader.schemas.own_case import OwnCase
from grader.schemas.report import Report
from grader.schemas.submission import State
from grader.schemas.verdict import Fault
from grader.service.challenges import versions
from grader.service.challenges.versions import ServedVersion
from grader.service.platform import Platform
from grader.wakeups import COMPILE, KERNELS, run_queue

log = get_logger(__name__)

_PROGRESS_SECONDS = 0.2
_SEED_KEY_BYTES = 32


class Executor:
    def __init__(
        self,
        platform: Platform,
        judge: Judge,
        heartbeat: Heartbeat,
        name: str,
        stopping: threading.Event,
        gpu_health: GpuHealth | None = None,
    ) -> None:
        self._platform = platform
        self._judge = judge
        self._heartbeat = heartbeat
        self._name = name
        self._stopping = stopping
        self._gpu_health = gpu_health
        self._machine = gpu_health.gpu_uuid if gpu_health is not None else socket.gethostname()
        self._finaliser = Finaliser(platform, stopping)
        self._sandbox_health = SandboxHealth(judge, partial(self._finaliser.set_sandbox_fault, name))

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
        held = self._claim()
        if held is None:
            return None
        with (
            structlog.contextvars.bound_contextvars(**held.context, worker=self._name),
            self._heartbeat.hold(held) as lease,
        ):
            log.info("judging", language=held.language.value, device=held.device)
            self._serve(held, lease)
        self._sandbox_health.wait(self._stopping)
        return held

    def _claim(self) -> Claim | None:
        settings, toolkit = self._platform.settings, nvcc_version()
        device = settings.device
        with writing(self._platform.sessions) as session:
            now = clock(session)
            compiling = workers.compiling(session, now, settings.lease_s)
            # Without compile-only workers, a queue that never empties would block uncompiled submissions for
            # ever.
            alone = toolkit is not None and all(worker.device for worker in compiling)
            wanted = claims.ClaimRequest(
                device,
                languages_of(device),
                self._name,
                now,
                settings.lease_s,
                toolkit,
                uncompiled=alone,
                machine=self._machine,
            )
            claimed = claims.claim(session, wanted)
        if claimed.returned:
            self._platform.wakeups.enqueue(COMPILE, len(claimed.returned))
        held = claimed.held
        if held is not None and held.language.compiled and held.artefact is None:
            # This wake-up was another submission's: this one's goes to compilers, perhaps next to another
            # device.
            self._platform.wakeups.enqueue(run_queue(device))
        if held is not None and any(compiled_ahead(device, language) for language in languages_of(device)):
            self._platform.wakeups.hint(KERNELS)
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
                self._finaliser.finish(held, report, served, outcome.quiz)
        except Cancelled:
            self._finaliser.give_back(held)
        except (JudgeFailure, BoxUnavailable, OSError) as error:
            log.exception("judge_failed")
            self._judge_failed(held, words(error), None)
        except AWAY as error:
            log.warning("database_away", error=type(error).__name__)
            self._finaliser.give_back(held, "The database was away.")
        except Exception as error:
            # Any error: a submission must always finish.
            log.exception("judge_failed")
            self._finaliser.fail(held, words(error), None)

    def _served(self, held: Claim) -> ServedVersion:
        served = versions.serve(self._platform, self._platform.catalogue.load(held.challenge))
        check_version(held, served.version)
        return served

    def _have_judged(self, held: Claim, served: ServedVersion, lease: HeldLease) -> Outcome:
        platform = self._platform
        key = BaselineKey(held.challenge, served.version, self._judge.device_model, self._judge.torch_version)
        with platform.sessions() as session:
            drawn = competition_draws.judged_by(session, held)
            frozen = baselines.read(session, key)
            ceilings = self._gpu_health.ceilings(session) if self._gpu_health is not None else {}
        job = Job(
            submission=held.public_id,
            catalogue=str(platform.catalogue.root_of(held.challenge)),
            challenge=held.challenge,
            language=held.language,
            source=held.source,
            fingerprint=served.fingerprint,
            device=held.device,
            # Not stored: hosts share no secret, and data that a box saw before its host died are worthless
            # later. In a competition all compared submissions get the same data.
            seed_key=drawn.seed_key if drawn else secrets.token_hex(_SEED_KEY_BYTES),
            baselines=frozen,
            ceilings=ceilings,
            artefact=self._artefact(held),
            context={**held.context, "worker": self._name},
            public_only=held.run,
            own_case=OwnCase.model_validate_json(held.own_case) if held.own_case is not None else None,
            workloads=drawn.workloads if drawn else [],
            quiz=not (held.run or held.rejudge or held.competition is not None),
        )
        outcome = self._judge.run(job, _ProgressWriter(platform, held), lambda: self._must_end(lease))
        if outcome.baselines:
            # The challenge may have a new version since it was loaded.
            self._freeze(replace(key, version=outcome.report.version), outcome, served)
        return outcome

    def _freeze(self, key: BaselineKey, outcome: Outcome, served: ServedVersion) -> None:
        """Raises ChallengeChanged if ``served`` no longer matches its version."""

        def store(session: Session) -> None:
            versions.check_unchanged(session, served)
            baselines.freeze(session, key, outcome.baselines)

        self._finaliser.write(store)

    def _artefact(self, held: Claim) -> Artefact | None:
        key = held.artefact or self._kernels_key(held)
        if key is None:
            return None
        with self._platform.sessions() as session:
            return artefacts.read(session, key)

    def _kernels_key(self, held: Claim) -> str | None:
        if not compiled_ahead(held.device, held.language):
            return None
        try:
            challenge = self._platform.catalogue.load(held.challenge)
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
    def __init__(self, platform: Platform, held: Claim) -> None:
        self._platform = platform
        self._held = held
        self._state: State | None = None
        self._since: datetime | None = None
        self._written = 0.0

    def __call__(self, news: JudgingProgress) -> None:
        now = time.monotonic()
        if news.state is self._state and now - self._written < _PROGRESS_SECONDS:
            return
        changed = news.state is not self._state
        self._state, self._written = news.state, now
        try:
            with writing(self._platform.sessions) as session:
                self._since = clock(session) if changed or self._since is None else self._since
                progress = news.progress.model_copy(update={"since": self._since})
                leases.progress(session, self._held, news.state, progress)
        except SQLAlchemyError as error:
            log.warning("progress_not_written", error=type(error).__name__)
