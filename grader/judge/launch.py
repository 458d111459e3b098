"""Starts the boxes of one judging, each with its program loaded."""

from __future__ import annotations

import importlib.util
import json
import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from grader import limits
from grader.challenge.autograd import form
from grader.challenge.dtypes import DType
from grader.challenge.model import Kind
from grader.challenge.signature import declaration
from grader.challenge.tensor_form import is_extension
from grader.errors import BoxUnavailable, JudgeFailure
from grader.judge import faults
from grader.judge.channel import ChannelError
from grader.judge.device import BoxDevice
from grader.judge.explaining import hint_of, message_of
from grader.judge.kept_control import KeptControl
from grader.judge.messages import Failure
from grader.judge.phases import phase
from grader.judge.request import Request
from grader.judge.runner_client import CompilingTime, RunnerClient
from grader.judge.timing import CONTROL_US
from grader.languages import Language
from grader.sandbox import compute_libraries
from grader.sandbox.box import BoxMaker, BoxPurpose, BoxSpec
from grader.schemas.report import Verdict

_SLOW_TO_LOAD = (
    "Loading runs the module's top level: move the work into solve, and look for a loop that does not end."
)


class LoadFailed(Exception):
    def __init__(self, verdict: Verdict, detail: str, hint: str, log: str) -> None:
        super().__init__(detail)
        self.verdict, self.detail, self.hint, self.log = verdict, detail, hint, log


@dataclass
class Launcher:
    request: Request
    device: BoxDevice
    boxes: BoxMaker
    interrupt: Callable[[], None]
    #: A compiled language's library, or kernels compiled ahead.
    artefact: bytes | None = None
    #: Versions that boxes report.
    environment: dict[str, str] = field(default_factory=dict)
    #: By step.
    start_seconds: dict[str, float] = field(default_factory=dict)
    kept_control: KeptControl | None = None
    #: See ``RunnerClient``.
    needs_open_gate: bool = False
    _open: list[RunnerClient] = field(default_factory=list)
    _submissions: list[RunnerClient] = field(default_factory=list)
    _control: RunnerClient | None = None
    _compiling: CompilingTime = field(default_factory=CompilingTime)

    def submission(
        self, ahead: Callable[[RunnerClient], None] | None = None, under: Sequence[str] = ()
    ) -> RunnerClient:
        """A box with the submission loaded. ``ahead`` gets it earlier, with the control loaded. ``under``: a tool
        and its options, which start the runner. Raises LoadFailed, BoxUnavailable."""
        if self.kept_control is not None:
            self.kept_control.forget_rounds()
        language = self.request.language
        if language.package and importlib.util.find_spec(language.package) is None:
            raise BoxUnavailable(
                f"this machine has no {language.display_name}, which the language needs", language.install
            )
        client = self._start(BoxPurpose.RUN, under)
        client.needs_open_gate = self.needs_open_gate
        self._submissions.append(client)
        if ahead is not None:
            self.load_control(client)
            ahead(client)
        self.load(client)
        return client

    def load(self, client: RunnerClient) -> None:
        """Raises LoadFailed."""
        manifest = self.request.challenge.manifest
        self.environment.update({f"box_{name}": value for name, value in client.environment.items()})
        self.start_seconds = client.start_seconds
        message = {
            "loader": self.request.language.running[self.device.on].loader,
            "source": "" if self.request.language.compiled else self.request.source,
            "parameters": [arg.name for arg in manifest.parameters],
            "declaration": declaration(manifest, self.request.language),
            **({"autograd": form(manifest)} if manifest.autograd else {}),
            **({"extension": True} if is_extension(manifest, self.request.source) else {}),
            **({"tag_prints": True} if self.request.tags_prints else {}),
            **({"gpus": manifest.gpus} if manifest.gpus > 1 else {}),
            **({"libraries": list(linked)} if (linked := compute_libraries.linked(manifest.allow)) else {}),
        }
        try:
            with phase("load"):
                failure = client.load(message, self.artefact)
        except ChannelError as error:
            raise _ended_while_loading(client, error) from error
        if failure is not None:
            self._check_disk()
            raise _not_loaded(failure, client.memory_bytes)

    def load_control(self, client: RunnerClient) -> None:
        """Raises JudgeFailure."""
        self._load_trusted(client, BoxPurpose.RUN, self._control_message)

    @property
    def _control_message(self) -> dict[str, Any]:
        return {
            "loader": "control",
            "outputs": self.request.names(Kind.OUTPUT, Kind.WORKSPACE),
            "duration_us": CONTROL_US,
        }

    def _check_disk(self) -> None:
        """A plain process writes its source to the host's disk. Raises JudgeFailure if that is full."""
        folder = tempfile.gettempdir()
        if self.boxes.name == "local" and shutil.disk_usage(folder).free < limits.SOURCE_BYTES:
            raise JudgeFailure(
                f"the disk of {folder} is full", "Free some space there, or set TMPDIR to another folder."
            )

    def control(self) -> RunnerClient:
        """The control's box loads no submission; its call has a known length."""
        message, kept = self._control_message, self.kept_control
        if kept is None or self.request.challenge.manifest.gpus > 1:  # its box has one GPU
            return self._trusted(BoxPurpose.CONTROL, message)
        client = kept.take(self.interrupt)
        if client is None:
            kept.new()
            client = self._start(BoxPurpose.CONTROL)
        else:
            self._open.append(client)
        self._load_trusted(client, BoxPurpose.CONTROL, message)
        self._control = client
        return client

    def keep_control(self) -> None:
        """Call if all went well: the next submission may use its box."""
        if self._control is not None and self.kept_control is not None:
            self._open.remove(self._control)
            self.kept_control.give_back(self._control)
            self._control = None

    def reference(self, mode: str, function: str = "") -> RunnerClient:
        """``function``: of ``reference.py``, instead of its baseline."""
        source, outputs = (
            self.request.challenge.reference_source,
            self.request.names(Kind.OUTPUT, Kind.WORKSPACE),
        )
        encoded = {
            arg.name: arg.dtype.value
            for arg in self.request.challenge.manifest.buffers
            if arg.kind.given and (arg.dtype.encoded or arg.dtype is DType.UINT64)
        }
        message: dict[str, Any] = {"loader": "reference", "mode": mode, "source": source}
        message |= {"outputs": outputs, "encoded": encoded}
        message |= {"function": function} if function else {}
        return self._trusted(BoxPurpose.BASELINE, message)

    def end_submissions(self) -> None:
        for client in self._submissions:
            client.close()

    def close(self) -> None:
        """May be called again."""
        for client in self._open:
            client.close()

    def _trusted(self, purpose: BoxPurpose, message: Mapping[str, Any]) -> RunnerClient:
        client = self._start(purpose)
        self._load_trusted(client, purpose, message)
        return client

    def _load_trusted(self, client: RunnerClient, purpose: BoxPurpose, message: Mapping[str, Any]) -> None:
        try:
            failure = client.load(message)
        except ChannelError as error:
            raise JudgeFailure(f"the {purpose} box failed: {error}") from error
        if failure is not None:
            raise JudgeFailure(f"the {purpose} box failed: {failure.type}: {failure.message}")

    def _start(self, purpose: BoxPurpose, under: Sequence[str] = ()) -> RunnerClient:
        spec = self._spec(purpose)
        if under:
            spec = replace(spec, under=tuple(under), env={**spec.env, "GRADER_TOOL": json.dumps(under)})
        with phase("box wait"):
            box = self.boxes.start(spec)
        try:
            compiling = self._compiling if purpose is BoxPurpose.RUN else None
            client = RunnerClient(box, self.device, self.interrupt, spec.memory_bytes, compiling)
        except BaseException:
            box.kill()
            raise
        self._open.append(client)
        try:
            with phase("box hello"):
                client.hello()
        except ChannelError as error:
            said = box.output().decode(errors="replace").strip()[-1000:]
            raise BoxUnavailable(
                f"a box started, but its runner did not answer: {error}"
                + (f"; it said: {said}" if said else ""),
                "`grader doctor` tries a box and says what it lacks.",
            ) from error
        # A start takes minutes on a slow host: it does not count.
        client.serve(self.interrupt, spec.wall_seconds)
        return client

    def _spec(self, purpose: BoxPurpose) -> BoxSpec:
        manifest, language = self.request.challenge.manifest, self.request.language
        if purpose is BoxPurpose.RUN:
            spec = submission_spec(self.device, language, manifest.limits.memory_bytes, manifest.allow)
        else:
            spec = self.device.box_spec(purpose, language, manifest.limits.memory_bytes)
        return self.device.with_gpus(spec, manifest.gpus) if manifest.gpus > 1 else spec


def submission_spec(
    device: BoxDevice, language: Language, memory_bytes: int, allow: Sequence[str] = ()
) -> BoxSpec:
    """``allow``: the challenge's.

    Hides libraries of kernels unless allowed: a submission should bring its kernels. Languages with torch and runners
    without a GPU need them.
    """
    spec = device.box_spec(BoxPurpose.RUN, language, memory_bytes)
    hide = not language.torch and spec.gpu is not None and not {"cublas", "torch"} & {*allow}
    linked = tuple(name for name in allow if name in compute_libraries.LINKED)
    shown = linked if language.compiled and spec.gpu is not None else ()
    return replace(spec, compute_libraries=not hide, shown_libraries=shown) if hide or shown else spec


def _ended_while_loading(client: RunnerClient, error: ChannelError) -> LoadFailed:
    finding = faults.of_broken_channel(
        client, error, "the source was loaded", limits.LOAD_SECONDS, _SLOW_TO_LOAD
    )
    printed = client.box.output()[: limits.OUTPUT_KEPT_BYTES].decode("utf-8", errors="replace")
    return LoadFailed(Verdict(finding.verdict.value), finding.detail, finding.hint, printed)


def _not_loaded(failure: Failure, memory_bytes: int) -> LoadFailed:
    if failure.kind == "memory":
        finding = faults.out_of_memory(failure, "the source was loaded", memory_bytes)
        return LoadFailed(Verdict.MEMORY_LIMIT, finding.detail, finding.hint, failure.trace)
    where = f" in line {failure.line}" if failure.line else ""
    detail = f"{failure.type}{where}: {message_of(failure)}".rstrip(": ")
    return LoadFailed(Verdict.COMPILE_ERROR, detail, hint_of(failure), failure.trace.rstrip())
