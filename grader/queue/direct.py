"""A worker's coordinator by SQL and Redis."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import timedelta

from grader.challenge.loader import Challenge
from grader.device_kinds import compiled_ahead, fixed_architectures, languages_of
from grader.queue.coordinator import (
    Compilation,
    Draws,
    Registration,
    ServedChallenge,
    Standing,
)
from grader.queue.loop import Stopper, take_wakeups
from grader.records import (
    ahead,
    artefacts,
    baselines,
    ceilings,
    claims,
    competition_draws,
    gpus,
    leases,
    quizzes,
    workers,
)
from grader.records.ahead import WaitingSource
from grader.records.baselines import BaselineKey, Times
from grader.records.ceilings import CalibrationKey
from grader.records.claims import Claim, ClaimRequest
from grader.records.engine import clock, writing
from grader.records.gpus import GpuRecord
from grader.records.models import utcnow
from grader.records.workers import Process
from grader.schemas.artefact import Artefact
from grader.schemas.hardware import GpuReading
from grader.schemas.quiz import DrawnQuestion
from grader.schemas.report import Report
from grader.schemas.submission import ProgressView, State
from grader.service.challenges import versions
from grader.service.challenges.versions import ServedVersion
from grader.service.platform import Platform
from grader.wakeups import COMPILE, KERNELS, run_queue

# A cancelled submission ends within about a second.
_LOOK_SECONDS = 0.5
_PROGRESS_SECONDS = 0.2


class DirectCoordinator:
    """Implements ``grader.queue.coordinator.Coordinator``."""

    progress_s = _PROGRESS_SECONDS

    def __init__(
        self, platform: Platform, name: str, process: Process | None = None, token: int | None = None
    ) -> None:
        """On behalf of a worker over HTTPS with ``process`` and ``token``."""
        self.platform = platform
        self.name = name
        self._process, self._token = process, token

    @property
    def heartbeat_s(self) -> float:
        return self.platform.settings.heartbeat_s

    @property
    def look_s(self) -> float:
        return min(_LOOK_SECONDS, self.heartbeat_s)

    @property
    def attempts(self) -> int:
        return self.platform.settings.attempts

    def register(self, worker: Registration) -> bool:
        with writing(self.platform.sessions) as session:
            workers.register(
                session,
                self.name,
                worker.device,
                worker.languages,
                clock(session),
                worker.gpu,
                worker.compiles,
                self._process,
                self._token,
            )
            session.flush()
            return workers.draining(session, self.name)

    def leave(self) -> None:
        with writing(self.platform.sessions) as session:
            workers.leave(session, self.name, clock(session))

    def draining(self) -> bool:
        with self.platform.sessions() as session:
            return workers.draining(session, self.name)

    def look(self, held: Claim | None, beat: bool, reading: GpuReading | None) -> Standing:
        if beat:
            self._beat(held, reading)
        with self.platform.sessions() as session:
            draining = workers.draining(session, self.name)
            if held is None:
                return Standing(draining)
            state = leases.lease_state(session, held)
        return Standing(draining, state.held, state.cancel_requested)

    def _beat(self, held: Claim | None, reading: GpuReading | None) -> None:
        with writing(self.platform.sessions) as session:
            now = clock(session)
            workers.beat(session, self.name, now, reading.model_dump(mode="json") if reading else None)
            if held is not None:
                leases.renew(session, held, now + timedelta(seconds=self.platform.settings.lease_s))

    def set_sandbox_fault(self, reason: str) -> None:
        with writing(self.platform.sessions) as session:
            workers.set_sandbox_fault(session, self.name, reason)

    def put_in_service(self, gpu: GpuRecord) -> None:
        with writing(self.platform.sessions) as session:
            workers.back_in_service(session, gpu.uuid)
            gpus.register(session, gpu, utcnow())

    def take_out_of_service(self, gpu: str, reason: str) -> None:
        with writing(self.platform.sessions) as session:
            workers.take_out_of_service(session, self.name, gpu, reason)

    def keep_ceilings(self, key: CalibrationKey, found: Mapping[str, float], gpu: GpuRecord) -> None:
        with writing(self.platform.sessions) as session:
            ceilings.store(session, key, found)
            gpus.register(session, gpu, utcnow())

    def others_compile(self) -> bool:
        with self.platform.sessions() as session:
            there = workers.compiling(session, clock(session), self.platform.settings.lease_s)
        return any(not worker.device and not worker.sandbox_fault for worker in there)

    def take_wakeups(
        self,
        handlers: Mapping[str, Callable[[], object]],
        burst: bool,
        stopper: Stopper,
        deferred: Callable[[], Collection[str]] = tuple,
    ) -> None:
        take_wakeups(self.platform.settings.queue_url, handlers, burst, stopper, deferred)

    def wake(self, queue: str) -> None:
        self.platform.wakeups.enqueue(queue)

    def announce(self, held: Claim) -> None:
        self.platform.wakeups.announce(held.device, held.language)

    def hint(self, queue: str) -> None:
        self.platform.wakeups.hint(queue)

    def claim(self, device: str, toolkit: str | None, machine: str, key: str = "") -> Claim | None:
        """``key``: a repeated one gets what the first got, or nothing if that is lost."""
        settings, wakeups = self.platform.settings, self.platform.wakeups
        with writing(self.platform.sessions) as session:
            if key and (before := workers.claimed(session, self.name, key)) is not None:
                return claims.held_by(session, self.name, *before)
            now = clock(session)
            compiling = workers.compiling(session, now, settings.lease_s)
            # Without compile-only workers, a queue that never empties would block uncompiled submissions for
            # ever.
            alone = toolkit is not None and all(worker.device for worker in compiling)
            languages = languages_of(device)
            wanted = ClaimRequest(
                device,
                languages,
                self.name,
                now,
                settings.lease_s,
                toolkit,
                uncompiled=alone,
                machine=machine,
            )
            claimed = claims.claim(session, wanted)
            held = claimed.held
            if key and held is not None:
                workers.note_claim(session, self.name, key, held.id, held.attempt)
        if claimed.returned:
            wakeups.enqueue(COMPILE, len(claimed.returned))
        if held is not None and held.language.compiled and held.artefact is None:
            # This wake-up was another submission's: this one's goes to compilers, perhaps next to another
            # device.
            wakeups.enqueue(run_queue(device))
        if held is not None and any(compiled_ahead(device, language) for language in languages):
            wakeups.hint(KERNELS)
        return held

    def claim_to_compile(self, key: str = "") -> Compilation | None:
        """``key``: as in ``claim``."""
        with writing(self.platform.sessions) as session:
            architectures = {**fixed_architectures(), **gpus.architectures(session)}
            if key and (before := workers.claimed(session, self.name, key)) is not None:
                held = claims.held_by(session, self.name, *before)
            else:
                now, lease_s = clock(session), self.platform.settings.lease_s
                held = claims.claim_to_compile(session, architectures, self.name, now, lease_s)
                if key and held is not None:
                    workers.note_claim(session, self.name, key, held.id, held.attempt)
        return Compilation(held, architectures[held.device]) if held is not None else None

    def load(self, slug: str) -> Challenge:
        return self.platform.catalogue.load(slug)

    def serve(self, slug: str) -> ServedChallenge:
        challenge = self.load(slug)
        version = versions.serve(self.platform, challenge)
        return ServedChallenge(challenge, self.platform.catalogue.root_of(slug), version)

    def draws(self, held: Claim, baselines_: BaselineKey, ceilings_: CalibrationKey | None) -> Draws:
        with self.platform.sessions() as session:
            drawn = competition_draws.judged_by(session, held)
            frozen = baselines.read(session, baselines_)
            reached = ceilings.read(session, ceilings_) if ceilings_ is not None else {}
        if drawn is None:
            return Draws(None, (), frozen, reached)
        return Draws(drawn.seed_key, drawn.workloads, frozen, reached)

    def progress(self, held: Claim, state: State, view: ProgressView, begins: bool) -> ProgressView:
        with writing(self.platform.sessions) as session:
            stored = view.model_copy(update={"since": clock(session)}) if begins else view
            leases.progress(session, held, state, stored)
        return stored

    def freeze(self, held: Claim, key: BaselineKey, times: Times, served: ServedVersion) -> None:
        with writing(self.platform.sessions) as session:
            versions.check_unchanged(session, served)
            baselines.freeze(session, key, times)

    def finish(
        self, held: Claim, report: Report, served: ServedVersion, quiz: Sequence[DrawnQuestion]
    ) -> bool:
        with writing(self.platform.sessions) as session:
            # In one transaction: the judged content must not change after the first verdict.
            versions.check_unchanged(session, served)
            done = leases.finish(session, held, report, clock(session))
            if done:
                quizzes.put(session, held.id, quiz)
        return done

    def give_back(self, held: Claim, why: str) -> State | None:
        with writing(self.platform.sessions) as session:
            return leases.give_back(session, held.id, held.attempt, clock(session), error=why)

    def fail(self, held: Claim, error: str, report: Report | None) -> State | None:
        with writing(self.platform.sessions) as session:
            now, cap = clock(session), self.attempts
            return leases.give_back(session, held.id, held.attempt, now, error=error, cap=cap, report=report)

    def hand_on(self, held: Claim, artefact: str) -> bool:
        with writing(self.platform.sessions) as session:
            done = leases.hand_on(session, held, artefact, clock(session))
        if done:
            self.platform.wakeups.enqueue(run_queue(held.device))
        return done

    def artefact(self, key: str) -> Artefact | None:
        with self.platform.sessions() as session:
            return artefacts.read(session, key)

    def use_artefact(self, key: str) -> bool:
        with writing(self.platform.sessions) as session:
            return artefacts.use(session, key, clock(session))

    def keep_artefact(self, artefact: Artefact) -> None:
        with writing(self.platform.sessions) as session:
            artefacts.store(session, artefact, clock(session))

    def forget_artefact(self, key: str) -> None:
        with writing(self.platform.sessions) as session:
            artefacts.forget(session, key)

    def waiting_kernels(self) -> list[WaitingSource]:
        with self.platform.sessions() as session:
            if workers.draining(session, self.name):
                return []
            return ahead.behind_busy_devices(session, clock(session), self.platform.settings.lease_s)

    def reserve_kernels(self, key: str, user: int) -> bool:
        with self.platform.sessions() as session:
            if artefacts.known(session, key):
                return False
        with writing(self.platform.sessions) as session:
            return artefacts.reserve(session, key, user, clock(session))

    def fill_kernels(self, artefact: Artefact) -> None:
        with writing(self.platform.sessions) as session:
            artefacts.fill(session, artefact, clock(session))

    def release_kernels(self, key: str) -> None:
        with writing(self.platform.sessions) as session:
            artefacts.release(session, key)

    def close(self) -> None:
        self.platform.close()
