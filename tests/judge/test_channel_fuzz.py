"""The judge's end of a connection against a box that sends anything.

Every exchange ends by its deadline, with a message of the expected kind or a ChannelError; it holds bounded
memory, leaves no descriptor open, and raises nothing else. The examples are derived from the test itself
(``derandomize``), so that every run tries the same ones; most are written before the judge reads, so that no
scheduler decides their meaning.
"""

from __future__ import annotations

import json
import socket
import struct
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from grader import limits
from grader.challenge.catalogue import Catalogue
from grader.judge import channel as channel_module
from grader.judge import runner_client as remote_module
from grader.judge.arena import Arena
from grader.judge.channel import ChannelError
from grader.judge.host_device import HostDevice
from grader.judge.messages import Bound, Hello, Loaded, Message, Queued, Returned
from grader.judge.runner_client import Answer, RunnerClient
from grader.sandbox.box import BoxEnd, EndReason
from tests.descriptors import none_left_open
from tests.judge.line import PATIENCE, frame, pair, soon, speak, within

KINDS: tuple[type[Message], ...] = (Hello, Loaded, Bound, Queued, Returned)
FUZZ = settings(
    max_examples=300,
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


ODD_NUMBERS = st.sampled_from(
    [0, -1, 1, 2**31, 2**31 + 1, -(2**64), 0.5, -0.0, 1e308, 5e-324, True, False, None]
) | st.floats(width=64)
ODD_TEXTS = st.one_of(
    st.text(max_size=30),
    st.sampled_from(["", "\0", "\ud800", "\x1b[2J", "\u202e", "x" * 201, "x" * 8_001, "x" * 60_000]),
)
SCALARS = st.one_of(ODD_NUMBERS, ODD_TEXTS)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.dictionaries(st.text(max_size=8), inner, max_size=4)
    ),
    max_leaves=12,
)
VALID = st.sampled_from(
    [
        {"op": "hello", "environment": {"python": "3.11"}},
        {"op": "imported"},
        {"op": "loaded"},
        {"op": "loaded", "error": {"kind": "syntax", "type": "SyntaxError", "message": "no", "line": 3}},
        {"op": "bound"},
        {"op": "queued", "round": 1},
        {"op": "returned", "round": 1, "error": None, "empty_launches": ["k"], "control_us": 2.5},
        {"op": "returned", "round": 1, "seen": {"library_ops": ["aten.mm"], "kernels": []}},
    ]
)
FIELDS = st.sampled_from(
    "op round error environment control_us empty_launches seen verdict time_us kind type message line".split()
)


@st.composite
def bent(draw: st.DrawFn) -> dict[str, Any]:
    """A message of the protocol with one field replaced or added, at the top or within."""
    made: dict[str, Any] = json.loads(json.dumps(draw(VALID)))
    inner = [value for value in made.values() if isinstance(value, dict)]
    place = draw(st.sampled_from([made, *inner]))
    place[draw(FIELDS)] = draw(VALUES)
    return made


def written(value: Any) -> bytes:
    # json writes NaN and Infinity, which JSON lacks, and escapes halves of surrogate pairs.
    return frame(json.dumps(value).encode())


FRAMES = st.one_of(
    VALID.map(written),
    bent().map(written),
    VALUES.map(written),
    st.binary(max_size=200).map(frame),
    st.integers(1, 60_000).map(lambda depth: frame(b"[" * depth)),
    st.integers(1, 10_000).map(lambda depth: frame(b'{"op":' * depth)),
    st.integers(1, 60_000).map(lambda count: frame(b'{"op":"queued","round":' + b"9" * count + b"}")),
    st.integers(1, 9_000).map(lambda count: frame(b'{"op":"bound",' + b'"a":1,' * count + b'"b":1}')),
)
# Wrong lengths: too large, too small, zero, and beyond any read.
TORN = st.tuples(st.integers(0, 2**32 - 1), st.binary(max_size=64)).map(
    lambda pair: struct.pack("<I", pair[0]) + pair[1]
)
SPEECH = st.one_of(FRAMES, TORN, st.binary(max_size=20), st.just(frame(b"")))
# Each utterance with a number of descriptors.
SCRIPT = st.lists(
    st.tuples(SPEECH, st.sampled_from([0, 0, 0, 1, 5, 200])), min_size=1, max_size=6
)  # fmt: skip
ENDINGS = st.sampled_from(["stay", "close", "shut"])


@FUZZ
@given(
    script=SCRIPT, ending=ENDINGS, expected=st.lists(st.sampled_from(KINDS), min_size=1, max_size=4)
)  # fmt: skip
def test_every_wait_ends_with_the_expected_message_or_a_channel_error(
    script: list[tuple[bytes, int]], ending: str, expected: list[type[Message]]
) -> None:
    with none_left_open(), pair() as (judge, theirs):
        speak(theirs, script, ending)
        for kind in expected:
            with within(PATIENCE), suppress(ChannelError):
                heard = judge.expect(kind, soon())
                assert type(heard) is kind
                assert len(heard.model_dump_json()) <= 2 * limits.MESSAGE_BYTES
        judge.gone()


@FUZZ
@given(said=st.one_of(FRAMES, st.binary(max_size=200).map(frame)))
def test_accepted_messages_follow_the_protocol_exactly(said: bytes) -> None:
    """Nothing is converted: writing a read message gives the same message."""
    with pair() as (judge, theirs):
        speak(theirs, [(said, 0)], "close")
        for kind in KINDS:
            with suppress(ChannelError):
                heard = judge.expect(kind, soon()).model_dump(exclude_unset=True)
                assert heard == json.loads(said[4:])


class FakeBox:
    id = "fake"

    def __init__(self, connection: socket.socket, printed: bytes) -> None:
        self.connection = connection
        self._printed = printed

    def end(self, wait_s: float = 0.0) -> BoxEnd | None:
        return None

    def kill(self) -> BoxEnd:
        self.connection.close()
        return BoxEnd(EndReason.KILLED)

    def cpu_seconds(self) -> float:
        return time.perf_counter()

    def out_of_memory(self) -> bool:
        return False

    def output(self) -> bytes:
        taken, self._printed = self._printed, b""
        return taken


STEPS = ("hello", "load", "bind", "warm_up", "call", "unbind")
RIGHT_ANSWERS = {
    "hello": [{"op": "hello"}],
    "load": [{"op": "loaded"}],
    "bind": [{"op": "bound"}],
    "warm_up": [{"op": "queued", "round": 1}, {"op": "returned", "round": 1}],
    "call": [{"op": "queued", "round": 2}, {"op": "returned", "round": 2}],
    "unbind": [{"op": "bound"}],
}


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("BOX_START_SECONDS", "LOAD_SECONDS", "COMPILE_SECONDS"):
        monkeypatch.setattr(limits, name, PATIENCE)
    for name in ("_BIND_SECONDS", "_GATED_SECONDS", "_MARK_SECONDS"):
        monkeypatch.setattr(remote_module, name, PATIENCE)
    monkeypatch.setattr(channel_module, "_SEND_SECONDS", PATIENCE)


@pytest.fixture(scope="module")
def inputs() -> dict[str, torch.Tensor]:
    return {"x": torch.ones(8)}


@settings(FUZZ, max_examples=100)
@given(
    honest=st.integers(0, len(STEPS)), script=SCRIPT, ending=ENDINGS, printed=st.binary(max_size=50)
)  # fmt: skip
def test_judging_ends_however_a_runner_answers(
    impatient: None,
    catalogue: Catalogue,
    inputs: dict[str, torch.Tensor],
    honest: int,
    script: list[tuple[bytes, int]],
    ending: str,
    printed: bytes,
) -> None:
    """The whole conversation: right answers up to some step, anything after it."""
    right = [(written(said), 0) for step in STEPS[:honest] for said in RIGHT_ANSWERS[step]]
    with none_left_open():
        ours, theirs = socket.socketpair()
        device = HostDevice()
        arena = Arena(catalogue.load("twice").manifest, {"n": 8}, {}, device.memories)
        client = RunnerClient(FakeBox(ours, printed), device)
        try:
            speak(theirs, [*right, *script], ending)
            _converse(client, arena, inputs)
        finally:
            client.close()
            arena.close()
            theirs.close()


def _converse(client: RunnerClient, arena: Arena, inputs: dict[str, torch.Tensor]) -> None:
    actions: list[Callable[[], Any]] = [
        client.hello,
        lambda: client.load({"loader": "triton_loader", "source": "x" * 1000}, b"library"),
        lambda: client.bind(arena),
        lambda: client.warm_up(arena, inputs, PATIENCE),
        lambda: client.call(arena, inputs, PATIENCE),
        client.printed,
        client.unbind,
    ]
    for action in actions:
        with within(5 * PATIENCE), suppress(ChannelError):
            found = action()
            # Nobody set the gate's done word, so no call has come back, whatever the box said.
            assert not isinstance(found, Answer)
