"""Users under load: each posts sources with a known verdict, polls them, and notes every answer that no user
should get. A post without an answer is sent again with the same key, as a user's program would.
"""

from __future__ import annotations

import random
import threading
import time
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field

from grader.cli.client import Client
from grader.errors import GraderError, TooMany, Unreachable
from grader.schemas.submission import State, SubmissionView
from tests.faults.sources import CPU, GPU, Source, made_up

# Most open submissions of one user; the service allows 10.
_OPEN = 4
_POLL_SECONDS = 0.25
_AGAIN_SECONDS = 0.5
# A locked database lets a post wait for 15 s before it answers.
_ANSWER_SECONDS = 40.0
# Sometimes a post is sent twice with one key.
_TWICE = 0.1


@dataclass
class Sent:
    user: str
    key: str
    source: Source
    id: str = ""
    view: SubmissionView | None = None
    unplaced: bool = False


@dataclass
class Heard:
    """``wrong``: answers that must never be given."""

    sent: list[Sent] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    answers: int = 0
    away: int = 0
    slowest_s: float = 0.0


class User(threading.Thread):
    """Posts while ``posting`` is set. Ends once ``finish`` is called and all its submissions have ended."""

    def __init__(self, name: str, url: str, token: str, seed: int, heard: Heard, real: int) -> None:
        super().__init__(name=name, daemon=True)
        self._client = Client(url, token, seconds=_ANSWER_SECONDS)
        self._draw = random.Random(seed)
        self._heard = heard
        self.posting, self.ending = threading.Event(), threading.Event()
        self.open: list[Sent] = []
        self._seed, self._posted, self._real = seed, 0, real

    def run(self) -> None:
        while not self.ending.is_set():
            if self.posting.is_set() and len(self.open) < _OPEN:
                self._post()
            for sent in list(self.open):
                self._poll(sent)
            self.ending.wait(_POLL_SECONDS)

    def _post(self) -> None:
        self._posted += 1
        # Real judges and boxes take seconds: only a few at a time, so that the last ones are soon done.
        real = sum(
            sent.source.device == CPU and not (sent.view and sent.view.state.final)
            for sent in self._heard.sent
        )
        devices = (CPU, GPU) if real < self._real else (GPU,)
        source = made_up(self._draw, 10_000 * self._seed + self._posted, devices)
        sent = Sent(self.name, uuid.uuid4().hex, source)
        self._heard.sent.append(sent)
        while not self.ending.is_set():
            view = self._ask(sent, post=True)
            if view is not None:
                break
            self.ending.wait(_AGAIN_SECONDS)
        else:
            return
        sent.id, sent.view = view.id, view
        if self._draw.random() < _TWICE and (again := self._ask(sent, post=True)) and again.id != view.id:
            self._heard.wrong.append(f"key {sent.key} made {view.id} and {again.id}")
        self.open.append(sent)

    def _poll(self, sent: Sent) -> None:
        view = self._ask(sent, post=False)
        if view is None:
            return
        self._check(sent, view)
        sent.view = view
        if view.state.final:
            self.open.remove(sent)

    def _check(self, sent: Sent, view: SubmissionView) -> None:
        # It changed between the two reads of one answer; the next answer is right.
        unplaced = view.state in (State.QUEUED, State.WAITING) and view.position is None
        if unplaced and sent.unplaced:
            self._heard.wrong.append(f"{view.id} is {view.state} and is not told its place")
        sent.unplaced = unplaced
        if view.state is State.DONE and view.verdict is not sent.source.expected:
            told = f"{view.verdict}, not {sent.source.expected}"
            self._heard.wrong.append(f"{view.id} on {view.device} ended as {told} (attempt {view.attempt})")
        if view.state in (State.FAILED, State.CANCELLED):
            self._heard.wrong.append(f"{view.id} is {view.state}: {view.error}")

    def _ask(self, sent: Sent, post: bool) -> SubmissionView | None:
        """The answer; None for a clear "not now"."""
        began = time.monotonic()
        try:
            answer = self._send(sent) if post else self._client.get(f"/submissions/{sent.id}")
            self._heard.answers += 1
            return SubmissionView.model_validate(answer)
        except (Unreachable, TooMany) as error:
            self._heard.away += 1
            # An error that the server did not expect.
            if not error.message or "failed on our side" in error.message:
                self._heard.wrong.append(
                    f"{'POST' if post else 'GET'} {sent.id}: {error.code}: {error.message}"
                )
        except GraderError as error:
            self._heard.wrong.append(f"{'POST' if post else 'GET'} {sent.id}: {error.code}: {error.message}")
        finally:
            self._heard.slowest_s = max(self._heard.slowest_s, time.monotonic() - began)
        return None

    def _send(self, sent: Sent) -> Mapping[str, object]:
        source = sent.source
        body = {
            "challenge": "twice",
            "source": source.text,
            "filename": source.filename,
            "device": source.device,
        }
        answer: Mapping[str, object] = self._client.post("/submissions", body, {"Idempotency-Key": sent.key})
        return answer
