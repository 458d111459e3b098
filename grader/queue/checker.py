"""Checks uploaded challenges in boxes without network and secrets. A box's messages are untrusted."""

from __future__ import annotations

import functools
import io
import json
import socket
import tempfile
import threading
import time
import zipfile
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from sqlalchemy.exc import SQLAlchemyError

import grader
import grader.sandbox
from grader import limits
from grader.challenge import bundle, fingerprint
from grader.challenge.bundle import Bundle
from grader.challenge.catalogue import MANIFEST, TRACKS
from grader.errors import BoxUnavailable, GraderError
from grader.judge.runner_client import sealed
from grader.logs import get_logger
from grader.queue.loop import Stopper
from grader.records import uploads
from grader.records.engine import clock, writing
from grader.records.models import UploadRow
from grader.sandbox.box import Box, BoxMaker, BoxPurpose, BoxSpec, readable
from grader.sandbox.emulator import BUILT, PREBUILT
from grader.sandbox.processor import Share, background_cores
from grader.schemas.proof import Proof
from grader.schemas.upload import CheckProgress, CheckState
from grader.service.challenges import catalogue_sync
from grader.service.challenges import uploads as uploading
from grader.service.platform import Platform

log = get_logger(__name__)

_PROGRAM = "examine.py"
_KEEP_SECONDS = 2.0
_LENGTH_BYTES = 4
# A check that crashed this many workers is given up.
_ATTEMPTS = 3
_PACKAGES = ("authoring", "challenge", "judge", "schemas")
_SUFFIXES = (".py", ".ptx", ".h")  # names.py of the emulator reads headers


class LostCheck(Exception):
    """The check was stopped, taken by another worker, or this worker ends."""


class Checker:
    def __init__(self, platform: Platform, boxes: BoxMaker, name: str, stopper: Stopper) -> None:
        self._platform = platform
        self._boxes = boxes
        self._name = name
        self._stopper = stopper
        self._wake = threading.Event()
        self._closed = False
        self._thread = threading.Thread(target=self._run, name="checker", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def wake(self) -> bool:
        self._wake.set()
        return True

    def close(self) -> None:
        self._closed = True
        self._wake.set()
        if self._thread.is_alive():
            self._thread.join()

    def _run(self) -> None:
        while not self._must_end():
            try:
                while not self._must_end() and self.serve_one():
                    pass
            except SQLAlchemyError as error:
                log.warning("database_away", error=type(error).__name__)
            except Exception:
                log.exception("check_failed")
            self._wake.wait(limits.CHECK_LOOK_SECONDS)
            self._wake.clear()

    def _must_end(self) -> bool:
        return self._closed or self._stopper.event.is_set()

    def serve_one(self) -> bool:
        """Fetch a course's repository or check the oldest upload; False if there is none, or the worker
        drains.
        """
        if not self._stopper.draining and catalogue_sync.serve_one(self._platform):
            return True
        with self._platform.sessions() as session:
            if self._stopper.draining or not uploads.waiting(session, clock(session)):
                return False
        with writing(self._platform.sessions) as session:
            held = uploads.claim(session, self._name, clock(session), self._platform.settings.lease_s)
            if held is not None:
                session.flush()
                session.expunge(held)
        if held is None:
            return False
        log.info("checking", challenge=held.challenge, upload=held.number)
        try:
            self._finish(held, *self._check(held))
        except LostCheck:
            self._give_back(held)
        except (BoxUnavailable, OSError) as error:
            log.exception("check_failed")
            self._finish(held, CheckState.FAILED, str(error), None)
        catalogue_sync.settle(self._platform)
        return True

    def _check(self, held: UploadRow) -> tuple[CheckState, str, Proof | None]:
        if held.check_attempt > _ATTEMPTS:
            return CheckState.FAILED, f"{_ATTEMPTS} workers ended while they checked it.", None
        made = bundle.read_archive(held.archive)
        box = self._boxes.start(_spec())
        try:
            conversation = Conversation(box, made.slug, _course_of(self._platform, made))
            return self._listen(held, made, conversation)
        finally:
            box.kill()

    def _listen(
        self, held: UploadRow, made: Bundle, conversation: Conversation
    ) -> tuple[CheckState, str, Proof | None]:
        progress: dict[str, Any] | None = None
        kept = 0.0
        for message in conversation.messages():
            if time.monotonic() - kept > _KEEP_SECONDS:
                self._keep(held, check_progress=progress)
                kept = time.monotonic()
            if message is None:
                continue
            match message.get("op"):
                case "broken":
                    return CheckState.BROKEN, _words(message), None
                case "failed":
                    return CheckState.FAILED, _words(message), None
                case "examined":
                    if wrong := self._examined(held, made, str(message.get("text"))):
                        return CheckState.BROKEN, wrong, None
                case "progress":
                    progress = _progress(message) or progress
                case "proof":
                    return _judged(message)
        return CheckState.FAILED, conversation.why_it_ended(), None

    def _examined(self, held: UploadRow, made: Bundle, text: str) -> str:
        """Store the case that its Python produced; else return the error."""
        try:
            with tempfile.TemporaryDirectory(prefix="grader-examined-") as folder:
                root = Path(folder) / "course"
                bundle.unfold(made, text, root)
                fingerprint.content(self._platform.catalogue.load_at(root, made.slug))
        except GraderError as error:
            return f"{error.message} {error.hint}".strip().replace(f"{root}/", "")
        self._keep(held, examined=text)
        uploading.take_first(self._platform, held.challenge, held.number)
        return ""

    def _keep(self, held: UploadRow, **values: Any) -> None:
        """Raises LostCheck."""
        if self._must_end():
            raise LostCheck
        with writing(self._platform.sessions) as session:
            until = clock(session) + timedelta(seconds=self._platform.settings.lease_s)
            if not uploads.keep(session, held, until, **values):
                raise LostCheck

    def _finish(self, held: UploadRow, state: CheckState, error: str, proof: Proof | None) -> None:
        result = proof.model_dump_json() if proof is not None else None
        with writing(self._platform.sessions) as session:
            values = {"check_error": error[:4000], "check_result": result}
            uploads.finish(session, held, state, clock(session), **values)
        log.info("checked", challenge=held.challenge, upload=held.number, state=state.value)

    def _give_back(self, held: UploadRow) -> None:
        """The check counts as no attempt if this worker is ending."""
        with writing(self._platform.sessions) as session:
            row = uploads.find(session, held.challenge, held.number)
            mine = row is not None and row.check_attempt == held.check_attempt
            if row is not None and mine and row.check_state is CheckState.RUNNING:
                row.check_state, row.check_lease, row.check_attempt = CheckState.WAITING, None, 0


def _spec() -> BoxSpec:
    return BoxSpec(
        BoxPurpose.CHECK,
        program=_PROGRAM,
        memory_bytes=limits.CHECK_MEMORY_BYTES,
        tmp_bytes=limits.CHECK_TMP_BYTES,
        pids=limits.CHECK_PIDS,
        wall_seconds=limits.CHECK_SECONDS,
        share=Share.BACKGROUND,
        cores=background_cores(),
    )


def _words(message: dict[str, Any]) -> str:
    return str(message.get("message", ""))[:4000] or "The box gave no reason."


def _progress(message: dict[str, Any]) -> dict[str, Any] | None:
    try:
        told = {name: message.get(name) for name in ("done", "total", "label")}
        return CheckProgress.model_validate(told).model_dump()
    except ValidationError:
        return None


def _judged(message: dict[str, Any]) -> tuple[CheckState, str, Proof | None]:
    try:
        proof = Proof.model_validate(message.get("proof"))
    except ValidationError:
        return CheckState.FAILED, "The box's findings are not valid.", None
    return (CheckState.PROVEN if proof.strong else CheckState.WEAK), "", proof


@dataclass
class Conversation:
    box: Box
    slug: str
    course: bytes

    def messages(self) -> Iterator[dict[str, Any] | None]:
        """Yields None from time to time while there is no message. Ends with the box."""
        connection, pending = self.box.connection, bytearray()
        try:
            self._ask(connection)
            while True:
                if not readable(1.0, connection):
                    yield None
                    continue
                data = connection.recv(64 * limits.KIB)
                if not data:
                    return
                pending += data
                while (message := _first(pending)) is not None:
                    yield message
        except (OSError, ValueError):
            return

    def _ask(self, connection: socket.socket) -> None:
        body = json.dumps({"slug": self.slug}).encode()
        connection.settimeout(limits.BOX_START_SECONDS)
        with ExitStack() as stack:
            descriptors = [stack.enter_context(sealed(data)) for data in (_platform_archive(), self.course)]
            socket.send_fds(connection, [len(body).to_bytes(_LENGTH_BYTES, "little") + body], descriptors)
        connection.settimeout(None)

    def why_it_ended(self) -> str:
        end = self.box.end(limits.BOX_END_SECONDS)
        said = self.box.output().decode("utf-8", "replace").strip()[-1500:]
        how = end.sentence() if end is not None else "it closed its connection"
        return f"The box that runs the check ended: {how}." + (f" It printed: {said}" if said else "")


def _first(pending: bytearray) -> dict[str, Any] | None:
    """Raises ValueError if the message is too long or not valid."""
    if len(pending) < _LENGTH_BYTES:
        return None
    length = int.from_bytes(pending[:_LENGTH_BYTES], "little")
    if length > limits.CHECK_ANSWER_BYTES:
        raise ValueError("the box sent too much")
    if len(pending) < _LENGTH_BYTES + length:
        return None
    body = bytes(pending[_LENGTH_BYTES : _LENGTH_BYTES + length])
    del pending[: _LENGTH_BYTES + length]
    try:
        message = json.loads(body)
    except RecursionError as error:
        raise ValueError("the box sent an invalid message") from error
    if not isinstance(message, dict):
        raise ValueError("the box sent an invalid message")
    return message


@functools.cache
def _platform_archive() -> bytes:
    package = Path(grader.__file__).parent
    files = {f"grader/{path.name}": path for path in package.glob("*.py")}
    for name in _PACKAGES:
        files |= _below(package / name, f"grader/{name}")
    (sandbox,) = grader.sandbox.__path__
    files |= _below(Path(sandbox), "grader/sandbox")
    return _packed({name: path.read_bytes() for name, path in sorted(files.items())})


def _below(folder: Path, name: str) -> dict[str, Path]:
    found = (path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    engine = (BUILT.name, PREBUILT.name)
    return {
        f"{name}/{path.relative_to(folder).as_posix()}": path
        for path in found
        if path.suffix in _SUFFIXES or path.parent.name in engine
    }


def _packed(files: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return buffer.getvalue()


def _course_of(platform: Platform, made: Bundle) -> bytes:
    """This challenge, the tracks, and the manifests of its prerequisites."""
    files = dict(made.files)
    tracks = platform.catalogue.root / "challenges" / TRACKS
    if tracks.is_file():
        files[f"challenges/{TRACKS}"] = tracks.read_bytes()
    for slug in made.manifest.prerequisites:
        path = platform.catalogue.root_of(slug) / "challenges" / slug / MANIFEST
        if path.is_file():
            files[f"challenges/{slug}/{MANIFEST}"] = path.read_bytes()
    return _packed(files)
