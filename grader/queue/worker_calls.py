"""Bodies and answers of the API's routes for workers. Both sides use them: ``grader.queue.remote`` sends what
``grader.web.api.worker_calls`` receives.
"""

from __future__ import annotations

from datetime import datetime

from pydantic import Field, StrictBool, StrictFloat, StrictInt

from grader import limits
from grader.challenge.model import Workload
from grader.languages import Language
from grader.queue.coordinator import Compilation, Registration, Standing
from grader.records.ahead import WaitingSource
from grader.records.baselines import Times
from grader.records.ceilings import CalibrationKey
from grader.records.claims import Claim
from grader.records.gpus import GpuRecord
from grader.records.workers import Process
from grader.schemas.artefact import Artefact, Library
from grader.schemas.hardware import GpuReading
from grader.schemas.quiz import DrawnQuestion
from grader.schemas.report import Report
from grader.schemas.strict import Strict
from grader.schemas.submission import ProgressView, State
from grader.service.challenges.versions import ServedVersion


class WorkerCall(Strict):
    worker: str = Field(min_length=1, max_length=128, description="the worker's name")


class Fence(Strict):
    """A submission that the worker holds."""

    id: StrictInt
    attempt: StrictInt


class HeldCall(WorkerCall):
    held: Fence


class Done(Strict):
    done: bool


class RegisterCall(WorkerCall):
    registration: Registration
    process: Process


class Registered(Strict):
    draining: bool
    heartbeat_s: float
    attempts: int


class LookCall(WorkerCall):
    held: Fence | None = None
    beat: StrictBool = Field(description="also a heartbeat, which renews the lease")
    reading: GpuReading | None = None


class Looked(Strict):
    standing: Standing


class FaultCall(WorkerCall):
    reason: str = Field(max_length=limits.ERROR_TEXT_CHARS, description="empty: it can start boxes again")


class GpuCall(WorkerCall):
    gpu: GpuRecord


class BadGpuCall(WorkerCall):
    reason: str = Field(max_length=limits.ERROR_TEXT_CHARS)


class CeilingsCall(Strict):
    key: CalibrationKey
    found: dict[str, float] = Field(max_length=100)
    gpu: GpuRecord


class WaitCall(WorkerCall):
    queues: list[str] = Field(max_length=8)
    deferred: list[str] = Field(
        default_factory=list, max_length=8, description="looked at if nothing else comes for a second"
    )
    seconds: StrictFloat = Field(ge=0, le=limits.WORK_WAIT_SECONDS)


class Woken(Strict):
    queue: str | None = Field(description="serve one submission of it; null: nothing came")


class WakeCall(WorkerCall):
    queue: str = Field(max_length=64)
    hint: StrictBool = Field(default=False, description="one is enough for all the work of the queue")


class AnnounceCall(WorkerCall):
    device: str = Field(max_length=32)
    language: Language


class ClaimCall(WorkerCall):
    key: str = Field(
        min_length=16, max_length=64, description="random; a call with the same key gets the same submission"
    )
    toolkit: str | None = Field(default=None, max_length=64, description="the machine's compiler")
    machine: str = Field(max_length=255)


class CompileCall(WorkerCall):
    key: str = Field(min_length=16, max_length=64)


class ToCompile(Strict):
    compilation: Compilation | None


class ChallengeCall(WorkerCall):
    slug: str = Field(max_length=limits.SLUG_CHARS)


class Served(Strict):
    version: ServedVersion
    digest: str = Field(description="of the challenge's files, see the call for the archive")


class Claimed(Strict):
    claim: Claim | None
    served: Served | None = Field(description="of its challenge; null: ask for it, which says why")


class ArchiveCall(ChallengeCall):
    digest: str = Field(max_length=64)


class DrawsCall(HeldCall):
    version: StrictInt
    device_model: str = Field(max_length=128)
    torch: str = Field(max_length=64)
    ceilings: CalibrationKey | None = None


class Drawn(Strict):
    seed_key: str | None
    workloads: list[Workload]
    baselines: Times
    ceilings: dict[str, float]


class ProgressCall(HeldCall):
    state: State
    view: ProgressView
    begins: StrictBool


class Progressed(Strict):
    since: datetime | None


class FreezeCall(HeldCall):
    version: StrictInt
    device_model: str = Field(max_length=128)
    torch: str = Field(max_length=64)
    times: Times
    served: ServedVersion


class FinishCall(HeldCall):
    report: Report
    served: ServedVersion
    quiz: list[DrawnQuestion] = Field(max_length=100)


class GiveBackCall(HeldCall):
    why: str = Field(max_length=limits.ERROR_TEXT_CHARS)


class FailCall(HeldCall):
    error: str = Field(max_length=limits.ERROR_TEXT_CHARS)
    report: Report | None = None


class LetGo(Strict):
    state: State | None = Field(description="null: the lease was lost before")


class HandOnCall(HeldCall):
    artefact: str = Field(max_length=64)


class KeyCall(WorkerCall):
    key: str = Field(max_length=64)


class FoundArtefact(Strict):
    artefact: Artefact | None


class PartCall(WorkerCall):
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")
    library: Library = Field(max_length=limits.ARTEFACT_PART_BYTES)


class ArtefactCall(WorkerCall):
    artefact: Artefact
    parts: list[str] = Field(
        default_factory=list,
        max_length=-(-limits.ARTEFACT_BYTES // limits.ARTEFACT_PART_BYTES),
        description="hashes of the library's parts, sent before; empty: the artefact holds it",
    )
    reserved: StrictBool = Field(description="it fills a reservation; otherwise it is new")


class WaitingKernels(Strict):
    sources: list[WaitingSource]


class ReserveCall(KeyCall):
    user: StrictInt
