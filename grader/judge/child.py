"""The judge process, started by JudgeProcess.

``python -m grader.judge.child DESCRIPTOR BOX_KIND SPARE_BOXES DEVICE GPU FOLDER OPTIONS``
"""

from __future__ import annotations

import ctypes
import os
import signal
import socket
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import structlog

from grader import limits, logs, metrics
from grader.challenge.catalogue import Catalogue
from grader.challenge.fingerprint import content, digest
from grader.challenge.loader import Challenge
from grader.errors import BadRequest, BoxUnavailable, Conflict, GraderError, JudgeFailure
from grader.judge.assembly import report
from grader.judge.boxed_reference import ReferenceBox, boxed
from grader.judge.device import make_device
from grader.judge.environment import judge_environment
from grader.judge.job import Job, JudgingProgress, Outcome
from grader.judge.kept_control import KeptControl
from grader.judge.launch import submission_spec
from grader.judge.phases import Recorder, phase, recorded
from grader.judge.process import JsonStream
from grader.judge.request import Request
from grader.judge.session import Session
from grader.judge.spares import Spares
from grader.languages import Language
from grader.logs import get_logger
from grader.sandbox import bytecode, processor
from grader.sandbox.box import BoxPurpose, BoxSpec
from grader.sandbox.choose import make_boxes
from grader.sandbox.options import DEFAULTS, SandboxOptions
from grader.sandbox.watched import WatchedBoxes
from grader.schemas.report import Verdict

log = get_logger(__name__)

_PR_SET_PDEATHSIG = 1
# A call may take longer than a judge may be silent.
_SPEAK_SECONDS = 30.0
_IDLE_LOOK_SECONDS = 30.0


class Stopped(Exception):
    """The worker no longer wants this verdict."""


class JudgeServer:
    def __init__(
        self,
        connection: socket.socket,
        box_kind: str,
        spare_boxes: int,
        device: str,
        gpu: int | Sequence[int],
        options: SandboxOptions = DEFAULTS,
        folder: Path | None = None,
    ) -> None:
        """``folder`` keeps costs of rounds."""
        self.lines = JsonStream(connection)
        self.submission = ""
        self.session: Session | None = None
        self.reference_box: ReferenceBox | None = None
        self._spoke = 0.0
        self.device = make_device(device, *([gpu] if isinstance(gpu, int) else gpu))
        if folder is not None and self.device.round_costs is not None:
            self.device.round_costs.keep_in(folder)
        # Leaves web and queue their share of the processor; child boxes inherit it.
        processor.take(self._spec(self._language).share)
        self.maker = make_boxes(box_kind, options)
        self.maker.reap()
        if bytecode.is_missing():
            self.device.bytecode = bytecode.make()
        self.spares = Spares(self.device, self.maker, spare_boxes)
        # On the host's processor a box is cheap and takes processor time.
        self.control = None if self.device.on_processor else KeptControl()

    @property
    def _language(self) -> Language:
        return self.device.languages()[-1]

    def _spec(self, language: Language) -> BoxSpec:
        return submission_spec(self.device, language, limits.BOX_MEMORY_BYTES)

    def serve(self) -> None:
        self.spares.refill()
        environment = judge_environment()
        ready = {"device_model": self.device.model, "architecture": self.device.architecture}
        self.lines.send({"ready": {**ready, "torch": environment["judge_torch"]}})
        try:
            patience = _IDLE_LOOK_SECONDS
            while True:
                message = self.lines.receive(seconds=patience)
                if message is not None:
                    self._handle(message)
                    patience = self.spares.patience()
                else:
                    self.spares.refill()
                    patience = _IDLE_LOOK_SECONDS
        except EOFError:
            pass
        finally:
            if self.control is not None:
                self.control.close()
            self.spares.close()

    def _handle(self, message: dict[str, Any]) -> None:
        if "job" in message:
            job = Job.model_validate(message["job"])
            self.spares.expect(job.language)
            with structlog.contextvars.bound_contextvars(**job.context):
                try:
                    self._answer(lambda: {"outcome": self._judge(job).model_dump(mode="json")})
                finally:
                    self.spares.release()
                    self._end_boxes()
        elif "probe" in message:
            self._answer(self._probe)
        elif "box" in message:
            self._answer(self._try_box)
        elif "calibrate" in message:
            self._answer(self._calibrate)

    def _answer(self, work: Callable[[], dict[str, Any]]) -> None:
        try:
            answer = work()
        except Stopped:
            answer = {"cancelled": True}
        except GraderError as error:
            answer = {"failure": error.as_dict()}
        except EOFError:
            raise
        except Exception as error:
            log.exception("judge_defect")
            answer = {"failure": {"message": f"{type(error).__name__}: {error}", "hint": ""}}
        self.lines.send(answer)

    def _probe(self) -> dict[str, Any]:
        """A broken device fails or hangs here."""
        if self.device.stream is not None:
            self.device.stream.before_round()
        return {"healthy": True}

    def _try_box(self) -> dict[str, Any]:
        """A spare box may have started before the trouble."""
        self.maker.start(self._spec(self._language)).kill()
        return {"box": True}

    def _calibrate(self) -> dict[str, Any]:
        self.spares.quiet()
        self.device.use_ceilings({})
        try:
            return {"ceilings": dict(self.device.ceilings())}
        finally:
            self.spares.release()

    def _judge(self, job: Job) -> Outcome:
        stream = self.device.stream
        recorder = Recorder(stream.settle if stream is not None else None) if job.phases else None
        with recorded(recorder), phase("rest"):
            outcome = self._judged(job)
        return outcome.model_copy(update={"phases": recorder.seconds}) if recorder is not None else outcome

    def _judged(self, job: Job) -> Outcome:
        self.submission = job.submission
        self.device.use_ceilings(job.ceilings)
        with phase("challenge"):
            challenge: Challenge = Catalogue(Path(job.catalogue)).load(job.challenge)
            found = digest(content(challenge))
        if found != job.fingerprint:
            raise JudgeFailure(
                f"The files of {job.challenge} changed just now.", "It is judged again with the new ones."
            )
        if challenge.examined is not None:
            challenge = self._boxed(challenge)
        request = Request(
            challenge=challenge,
            language=job.language,
            source=job.source,
            device=job.device,
            seed_key=bytes.fromhex(job.seed_key),
            cases=[*challenge.cases, *challenge.hidden_cases],
            baselines=job.baselines,
            artefact=job.artefact,
            public_only=job.public_only,
            quiz=job.quiz,
            conceals=True,
            timed=job.workloads,
        )
        if job.own_case is not None:
            try:
                request = request.with_own(job.own_case)
            except (BadRequest, Conflict) as error:  # the challenge changed after the run was stored
                return Outcome(report=report(request, Verdict.NO_ANSWER, {}, {"detail": error.told}))
        boxes = WatchedBoxes(self.spares.boxes, metrics.box_started)
        log.info("judge_began", device=job.device)
        self.session = Session(
            request,
            self.device,
            boxes,
            self._progress,
            self._look_for_cancel,
            quiet=self.spares.quiet,
            kept_control=self.control,
        )
        try:
            outcome = self.session.judge()
        except BaseException:
            self._end_boxes()
            raise
        log.info("judge_ended", verdict=outcome.report.verdict.value, **outcome.report.breakdown_s)
        return outcome

    def _boxed(self, challenge: Challenge) -> Challenge:
        spec = self.device.box_spec(BoxPurpose.BASELINE, self._language, limits.BOX_MEMORY_BYTES)
        self.reference_box = ReferenceBox(
            WatchedBoxes(self.spares.boxes, metrics.box_started),
            spec,
            challenge.slug,
            challenge.reference_source,
            self._look_for_cancel,
        )
        return boxed(challenge, self.reference_box)

    def _end_boxes(self) -> None:
        reference, self.reference_box = self.reference_box, None
        if reference is not None:
            with suppress(BoxUnavailable):  # the next reap ends it
                reference.close()
        session, self.session = self.session, None
        if session is None:
            return
        try:
            session.close()
        except BoxUnavailable as error:  # the next reap ends it
            log.warning("box_not_ended", error=str(error))

    def _progress(self, progress: JudgingProgress) -> None:
        self.lines.send({"progress": progress.model_dump(mode="json")})

    def _look_for_cancel(self) -> None:
        if time.monotonic() - self._spoke > _SPEAK_SECONDS:
            self._spoke = time.monotonic()
            self.lines.send({"waiting": True})
        message = self.lines.receive(seconds=0.0)
        # The cancel may be for the submission before.
        if message is not None and message.get("cancel") == self.submission:
            raise Stopped


def _die_with_parent() -> None:
    """Even if the worker is killed with -9, its judge and boxes die."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() == 1:
        sys.exit("the worker is gone")


def main() -> None:
    _die_with_parent()
    logs.configure()
    # Ctrl-C reaches all processes of the terminal; the worker handles it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # CUDA's default order puts the fastest GPU first; ours is the driver's.
    os.environ["CUDA_DEVICE_ORDER"] = "PCI_BUS_ID"
    connection = socket.socket(fileno=int(sys.argv[1]))
    try:
        box_kind, spare_boxes, device, gpus, folder, options = sys.argv[2:]
        child = JudgeServer(
            connection,
            box_kind,
            int(spare_boxes),
            device,
            [int(number) for number in gpus.split(",")],
            SandboxOptions.of_json(options),
            Path(folder) if folder else None,
        )
    except GraderError as error:
        JsonStream(connection).send({"failure": error.as_dict()})
        return
    child.serve()


if __name__ == "__main__":
    main()
