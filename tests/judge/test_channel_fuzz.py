"""The judge's end of a connection against a box that says whatever it likes.

The promise: every exchange ends by its deadline, with a message of the kind that was due or with a ChannelError; it
holds bounded memory, leaves no descriptor open, and never raises anything else. The examples are derived from the test
itself (``derandomize``), so that every run tries the same ones; most are written before the judge reads, so that no
scheduler decides what they mean.
"""

from __future__ import annotations

import array
import json
import resource
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from grader import limits
from grader.challenge.loader import Course
from grader.judge import channel as channel_module
from grader.judge import remote as remote_module
from grader.judge.arena import Arena
from grader.judge.channel import BoxGone, BoxLied, BoxSilent, Channel, ChannelError
from grader.judge.device import HostDevice
from grader.judge.messages import Bound, Hello, Loaded, Message, Queued, Returned
from grader.judge.remote import Answer, Remote
from grader.sandbox.box import BoxEnd, EndReason
from tests.descriptors import none_left_open

KINDS: tuple[type[Message], ...] = (Hello, Loaded, Bound, Queued, Returned)
# What a wait is given here, and what a busy machine may add to it before a test calls it too long.
PATIENCE = 0.02
SLACK = 2.0
FUZZ = settings(
    max_examples=300,
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)

# What a box may say


def frame(body: bytes) -> bytes:
    return struct.pack("<I", len(body)) + body


def message(**fields: Any) -> bytes:
    return frame(json.dumps(fields).encode())


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
    # json writes what JSON does not have (NaN, Infinity), and escapes halves of surrogate pairs.
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
# Lengths that lie: more than follows, less, nothing, more than is ever read.
TORN = st.tuples(st.integers(0, 2**32 - 1), st.binary(max_size=64)).map(
    lambda it: struct.pack("<I", it[0]) + it[1]
)
SPEECH = st.one_of(FRAMES, TORN, st.binary(max_size=20), st.just(frame(b"")))
# Each utterance with a number of descriptors that ride along.
SCRIPT = st.lists(
    st.tuples(SPEECH, st.sampled_from([0, 0, 0, 1, 5, 200])), min_size=1, max_size=6
)  # fmt: skip
ENDINGS = st.sampled_from(["stay", "close", "shut"])


def speak(theirs: socket.socket, script: list[tuple[bytes, int]], ending: str) -> None:
    """Say it all at once, as far as the kernel takes it, then stay, close, or close for writing."""
    theirs.setblocking(False)
    with Path("/dev/null").open() as gift, suppress(BlockingIOError):
        for data, descriptors in script:
            rights = array.array("i", [gift.fileno()] * descriptors)
            theirs.sendmsg([data], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, rights)] if descriptors else [])
    if ending == "close":
        theirs.close()
    elif ending == "shut":
        theirs.shutdown(socket.SHUT_WR)


# What must hold, whatever it said


@contextmanager
def pair() -> Iterator[tuple[Channel, socket.socket]]:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield Channel(ours), theirs


@contextmanager
def within(seconds: float) -> Iterator[None]:
    start = time.perf_counter()
    yield
    assert time.perf_counter() - start < seconds + SLACK


def soon(seconds: float = PATIENCE) -> float:
    return time.perf_counter() + seconds


@FUZZ
@given(
    script=SCRIPT, ending=ENDINGS, expected=st.lists(st.sampled_from(KINDS), min_size=1, max_size=4)
)  # fmt: skip
def test_every_wait_ends_with_what_was_due_or_a_channel_error(
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
def test_what_is_believed_is_exactly_what_the_protocol_has(said: bytes) -> None:
    """Nothing is converted on the way: what was read says the same when it is written again."""
    with pair() as (judge, theirs):
        speak(theirs, [(said, 0)], "close")
        for kind in KINDS:
            with suppress(ChannelError):
                heard = judge.expect(kind, soon()).model_dump(exclude_unset=True)
                assert heard == json.loads(said[4:])


class FakeBox:
    """A box that is nothing but the other end of a connection."""

    id = "fake"

    def __init__(self, connection: socket.socket, printed: bytes) -> None:
        self.connection = connection
        self._printed = printed

    def end(self, wait_s: float = 0.0) -> BoxEnd | None:
        return None

    def kill(self) -> BoxEnd:
        self.connection.close()
        return BoxEnd(EndReason.KILLED)

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
    for name in ("LOAD_SECONDS", "COMPILE_SECONDS"):
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
    course: Course,
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
        arena = Arena(course.load("twice").manifest, {"n": 8}, {}, device.memories)
        remote = Remote(FakeBox(ours, printed), device)
        try:
            speak(theirs, [*right, *script], ending)
            _converse(remote, arena, inputs)
        finally:
            remote.close()
            arena.close()
            theirs.close()


def _converse(remote: Remote, arena: Arena, inputs: dict[str, torch.Tensor]) -> None:
    deeds: list[Callable[[], Any]] = [
        remote.hello,
        lambda: remote.load({"language": "triton", "source": "x" * 1000}, b"library"),
        lambda: remote.bind(arena),
        lambda: remote.warm_up(arena, inputs, PATIENCE),
        lambda: remote.call(arena, inputs, PATIENCE),
        remote.printed,
        remote.unbind,
    ]
    for deed in deeds:
        with within(5 * PATIENCE), suppress(ChannelError):
            found = deed()
            # Nobody set the gate's done word, so no call has come back, whatever was said of it.
            assert not isinstance(found, Answer)


# What takes a second side that goes on talking


@contextmanager
def talking(talk: Callable[[socket.socket], None]) -> Iterator[tuple[Channel, list[int]]]:
    """A channel whose other end is served by ``talk``; the list counts how often the judge looked up meanwhile."""
    ours, theirs = socket.socketpair()
    looks: list[int] = []

    def serve() -> None:
        with suppress(OSError):
            talk(theirs)

    thread = threading.Thread(target=serve, daemon=True)
    with ours, theirs:
        thread.start()
        yield Channel(ours, lambda: looks.append(1)), looks
        ours.close()
        thread.join(10)
        assert not thread.is_alive()


def drip(theirs: socket.socket) -> None:
    theirs.sendall(struct.pack("<I", limits.MESSAGE_BYTES))
    while True:
        theirs.sendall(b" ")
        time.sleep(0.001)


def flood(theirs: socket.socket) -> None:
    while True:
        theirs.sendall(message(op="queued", round=1) * 1000)


def test_a_drip_gets_no_longer_than_silence_and_the_judge_looks_up_meanwhile() -> None:
    with talking(drip) as (judge, looks), within(1.0):
        with pytest.raises(BoxSilent):
            judge.expect(Queued, soon(1.0))
        assert len(looks) >= 2, "a submission that drips could not be cancelled"


def test_a_drip_that_never_pauses_ends_at_the_deadline() -> None:
    def pour(theirs: socket.socket) -> None:
        theirs.sendall(struct.pack("<I", limits.MESSAGE_BYTES) + b" " * (limits.MESSAGE_BYTES - 1))

    with talking(pour) as (judge, _), within(0.1), pytest.raises(BoxSilent):
        judge.expect(Queued, soon(0.1))


def test_what_had_come_by_the_deadline_counts() -> None:
    with pair() as (judge, theirs):
        theirs.sendall(message(op="queued", round=7))
        assert judge.expect(Queued, time.perf_counter() - 1.0).round == 7


def test_a_flood_costs_one_message_and_no_memory() -> None:
    with talking(flood) as (judge, _), within(0.1):
        assert judge.expect(Queued, soon(1.0)).round == 1
        with pytest.raises(BoxLied):
            judge.expect(Returned, soon(1.0))
        assert len(judge._pending) == 0


def test_the_first_lie_cuts_the_line() -> None:
    with pair() as (judge, theirs):
        theirs.sendall(frame(b"nonsense") + message(op="queued", round=1))
        for _ in range(2):
            with pytest.raises(BoxLied):
                judge.expect(Queued, soon())


@pytest.mark.parametrize("number", ["-1", "2147483649", "1e3", "true", "9" * 4000, "9" * 5000, "NaN"])
def test_no_number_is_larger_than_any_that_is_meant(number: str) -> None:
    """Each would be printed in a report, or compared; none may have thousands of digits."""
    line = f'{{"op":"loaded","error":{{"kind":"syntax","type":"x","message":"","line":{number}}}}}'
    for said, kind in ((f'{{"op":"queued","round":{number}}}', Queued), (line, Loaded)):
        with pair() as (judge, theirs):
            theirs.sendall(frame(said.encode()))
            with pytest.raises(BoxLied):
                judge.expect(kind, soon(1.0))


def test_a_message_that_is_said_again_is_not_the_next_one() -> None:
    with pair() as (judge, theirs):
        theirs.sendall(message(op="queued", round=1) * 2)
        judge.expect(Queued, soon())
        with pytest.raises(BoxLied, match="queued came where returned was due"):
            judge.expect(Returned, soon())


def test_a_box_that_stops_reading_is_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(channel_module, "_SEND_SECONDS", 0.1)
    with pair() as (judge, _), within(0.3), pytest.raises(BoxGone):
        judge.send({"op": "load", "source": "x" * (16 * limits.MIB)})


@pytest.mark.parametrize("unread", [b"", b"something before the end"], ids=["nothing", "something"])
@pytest.mark.parametrize("ending", ["close", "shut"])
def test_an_end_behind_unread_bytes_is_seen(unread: bytes, ending: str) -> None:
    with pair() as (judge, theirs):
        assert not judge.gone()
        speak(theirs, [(unread, 0)] if unread else [], ending)
        assert judge.gone()


def test_a_connection_that_we_closed_is_gone() -> None:
    with pair() as (judge, _):
        judge._connection.close()
        assert judge.gone()
        with pytest.raises(BoxGone):
            judge.expect(Queued, soon())


def test_the_largest_numbers_of_open_files_are_no_obstacle() -> None:
    """``select`` takes descriptors below 1024 only; a judge with many boxes may have more."""
    most, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < 2048:
        pytest.skip("this machine allows fewer open files")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(most, 2048), hard))
    try:
        with pair() as (low, theirs):
            import fcntl

            high = socket.socket(fileno=fcntl.fcntl(low._connection, fcntl.F_DUPFD_CLOEXEC, 1500))
            with high:
                theirs.sendall(message(op="bound"))
                assert Channel(high).expect(Bound, soon(1.0)) == Bound(op="bound")
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


def test_thousands_of_the_dearest_messages_cost_no_memory() -> None:
    """Each refusal frees all that it took: 6,000 fields that the protocol does not have, or a nesting of 30,000."""
    fields = b",".join(b'"%d":1' % number for number in range(6000))
    dear = [
        frame(b'{"op":"hello",' + fields + b"}"),
        frame(b"[" * 30_000),
        frame(b'"' + b"\\u0041" * 10_000 + b'"'),
    ]

    def refuse(times: int) -> None:
        for number in range(times):
            with pair() as (judge, theirs):
                theirs.sendall(dear[number % len(dear)])
                with pytest.raises(BoxLied):
                    judge.expect(Queued, soon(5.0))

    refuse(30)  # whatever is made once is made now
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    refuse(600)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 16 * limits.MIB // limits.KIB
