"""What a worker asks the platform: ``grader.queue.direct`` by SQL and Redis, on hosts with the database's password;
``grader.queue.remote`` over HTTPS, on those that hold only a worker's token.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from sqlalchemy.exc import SQLAlchemyError

from grader.challenge.loader import Challenge
from grader.challenge.model import Workload
from grader.languages import Language
from grader.queue.loop import Stopper
from grader.records import engine
from grader.records.ahead import WaitingSource
from grader.records.baselines import BaselineKey, Times
from grader.records.ceilings import CalibrationKey
from grader.records.claims import Claim
from grader.records.gpus import GpuRecord
from grader.schemas.artefact import Artefact
from grader.schemas.hardware import GpuReading
from grader.schemas.quiz import DrawnQuestion
from grader.schemas.report import Report
from grader.schemas.submission import ProgressView, State
from grader.service.challenges.versions import ServedVersion
from grader.service.platform import Platform


class ServerAway(Exception):
    """The server does not answer, or not as it should. The request may have been carried out."""


# The request itself is fine: it may be tried again.
AWAY = (*engine.AWAY, ServerAway)
# Calls in the background: the next turn tries again.
FAILED = (SQLAlchemyError, ServerAway)


@dataclass(frozen=True)
class Registration:
    """``device`` is empty if it only compiles, ``gpu`` is a UUID."""

    device: str
    languages: Sequence[Language]
    gpu: str | None
    compiles: bool


@dataclass(frozen=True)
class Standing:
    """``held``: the submission is still this worker's."""

    draining: bool
    held: bool = False
    cancel_requested: bool = False


@dataclass(frozen=True)
class ServedChallenge:
    """``root`` holds ``challenges/SLUG`` and ``reference/SLUG`` on this machine."""

    challenge: Challenge
    root: Path
    version: ServedVersion


@dataclass(frozen=True)
class Compilation:
    """``architecture``: for nvcc, such as sm_90a."""

    held: Claim
    architecture: str


@dataclass(frozen=True)
class Draws:
    """What the platform adds to a job. ``seed_key``: a competition's; None: the worker draws one."""

    seed_key: str | None = None
    workloads: Sequence[Workload] = ()
    baselines: Times = field(default_factory=dict)
    ceilings: Mapping[str, float] = field(default_factory=dict)


class Coordinator(Protocol):
    """Calls raise one of ``AWAY`` if the platform does not answer. All that concern a held submission are fenced by its
    id and attempt, and may be repeated: the second does nothing.
    """

    @property
    def name(self) -> str:
        """The worker's."""

    @property
    def platform(self) -> Platform | None:
        """For chores: sweeping, grades, uploads' checks. None without the database: this worker does none."""

    @property
    def heartbeat_s(self) -> float: ...

    @property
    def look_s(self) -> float:
        """Between two looks for cancellation and draining."""

    @property
    def progress_s(self) -> float:
        """Between two reports of progress."""

    @property
    def attempts(self) -> int: ...

    def register(self, worker: Registration) -> bool:
        """True if staff drain this worker."""

    def leave(self) -> None: ...

    def draining(self) -> bool: ...

    def look(self, held: Claim | None, beat: bool, reading: GpuReading | None) -> Standing:
        """``beat``: also a heartbeat, which renews the lease."""

    def set_sandbox_fault(self, reason: str) -> None:
        """``reason`` is empty if it can start sandboxes."""

    def put_in_service(self, gpu: GpuRecord) -> None: ...

    def take_out_of_service(self, gpu: str, reason: str) -> None: ...

    def keep_ceilings(self, key: CalibrationKey, found: Mapping[str, float], gpu: GpuRecord) -> None: ...

    def others_compile(self) -> bool:
        """True if a worker that only compiles serves."""

    def take_wakeups(
        self,
        handlers: Mapping[str, Callable[[], object]],
        burst: bool,
        stopper: Stopper,
        deferred: Callable[[], Collection[str]] = tuple,
    ) -> None:
        """See ``grader.queue.loop.take_wakeups``."""

    def wake(self, queue: str) -> None:
        """Somebody serves one submission of ``queue``. Never raises: a sweeper replaces lost wake-ups."""

    def announce(self, held: Claim) -> None:
        """It waits again. Never raises."""

    def hint(self, queue: str) -> None:
        """Somebody looks at all the work of ``queue``. Never raises."""

    def claim(self, device: str, toolkit: str | None, machine: str) -> Claim | None:
        """``toolkit``: this machine's compiler. ``machine``: UUID of its GPU, or its host's name."""

    def claim_to_compile(self) -> Compilation | None: ...

    def load(self, slug: str) -> Challenge:
        """Raises UnknownChallenge, ChallengeInvalid."""

    def serve(self, slug: str) -> ServedChallenge:
        """Raises UnknownChallenge, ChallengeInvalid, ChallengeChanged."""

    def draws(self, held: Claim, baselines: BaselineKey, ceilings: CalibrationKey | None) -> Draws: ...

    def progress(self, held: Claim, state: State, view: ProgressView, begins: bool) -> ProgressView:
        """``begins``: sets ``since`` to the platform's time. Returns what was stored."""

    def freeze(self, held: Claim, key: BaselineKey, times: Times, served: ServedVersion) -> None:
        """Raises ChallengeChanged if ``served`` no longer matches its version."""

    def finish(
        self, held: Claim, report: Report, served: ServedVersion, quiz: Sequence[DrawnQuestion]
    ) -> bool:
        """False if the lease was lost. Raises ChallengeChanged."""

    def give_back(self, held: Claim, why: str) -> State | None:
        """Counts no attempt. None if the lease was lost."""

    def fail(self, held: Claim, error: str, report: Report | None) -> State | None:
        """Counts as an attempt. None if the lease was lost."""

    def hand_on(self, held: Claim, artefact: str) -> bool:
        """To the workers that run it. False if the lease was lost or it should be cancelled."""

    def artefact(self, key: str) -> Artefact | None: ...

    def use_artefact(self, key: str) -> bool:
        """True if it exists. It is then kept longer."""

    def keep_artefact(self, artefact: Artefact) -> None: ...

    def waiting_kernels(self) -> list[WaitingSource]:
        """Empty while staff drain this worker."""

    def reserve_kernels(self, key: str, user: int) -> bool:
        """False if they are already compiled or reserved."""

    def fill_kernels(self, artefact: Artefact) -> None: ...

    def release_kernels(self, key: str) -> None: ...

    def close(self) -> None: ...
