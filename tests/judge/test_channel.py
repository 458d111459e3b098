"""The judge's end of a connection: deadlines, false messages, floods, ends and descriptors, each by itself."""

from __future__ import annotations

import resource
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import pytest

from grader import limits
from grader.judge import channel as channel_module
from grader.judge.channel import BoxGone, BoxLied, BoxSilent, Channel, Deadline
from grader.judge.messages import Bound, Loaded, Queued, Returned
from grader.sandbox.allowance import Allowance
from tests.judge.line import frame, message, pair, soon, speak, within


@contextmanager
def talking(talk: Callable[[socket.socket], None]) -> Iterator[tuple[Channel, list[int]]]:
    """``talk`` serves the other end; the list counts how often the judge looked up in the meantime."""
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


def test_a_slow_drip_times_out_like_silence_and_can_be_cancelled() -> None:
    with talking(drip) as (judge, looks), within(1.0):
        with pytest.raises(BoxSilent):
            judge.expect(Queued, soon(1.0))
        assert len(looks) >= 2, "a submission that drips could not be cancelled"


def test_a_drip_that_never_pauses_ends_at_the_deadline() -> None:
    def pour(theirs: socket.socket) -> None:
        theirs.sendall(struct.pack("<I", limits.MESSAGE_BYTES) + b" " * (limits.MESSAGE_BYTES - 1))

    with talking(pour) as (judge, _), within(0.1), pytest.raises(BoxSilent):
        judge.expect(Queued, soon(0.1))


def test_a_message_that_arrived_by_the_deadline_counts() -> None:
    with pair() as (judge, theirs):
        theirs.sendall(message(op="queued", round=7))
        assert judge.expect(Queued, time.perf_counter() - 1.0).round == 7


@pytest.mark.parametrize("deadline", [soon, Allowance], ids=["clock", "allowance"])
def test_time_while_the_judge_was_stopped_is_not_charged(
    monkeypatch: pytest.MonkeyPatch, deadline: Callable[[float], Deadline]
) -> None:
    """Protects students against a paused or swapping machine while the judge waits for their box."""
    monkeypatch.setattr(channel_module, "_STALL_SECONDS", 0.05)
    with pair() as (judge, theirs):
        look, looks = judge._events, iter(range(100))

        def events(wanted: int, seconds: float) -> int:
            match next(looks):
                case 0:
                    time.sleep(0.2)
                    return 0
                case 1:
                    theirs.sendall(message(op="queued", round=7))
            return look(wanted, seconds)

        monkeypatch.setattr(judge, "_events", events)
        assert judge.expect(Queued, deadline(0.1)).round == 7


def test_a_flood_costs_no_memory() -> None:
    with talking(flood) as (judge, _), within(0.1):
        assert judge.expect(Queued, soon(1.0)).round == 1
        with pytest.raises(BoxLied):
            judge.expect(Returned, soon(1.0))
        assert len(judge._pending) == 0


def test_the_first_malformed_message_ends_the_connection() -> None:
    with pair() as (judge, theirs):
        theirs.sendall(frame(b"nonsense") + message(op="queued", round=1))
        for _ in range(2):
            with pytest.raises(BoxLied):
                judge.expect(Queued, soon())


@pytest.mark.parametrize("number", ["-1", "2147483649", "1e3", "true", "9" * 4000, "9" * 5000, "NaN"])
def test_oversized_numbers_are_refused(number: str) -> None:
    """Each would be printed in a report, or compared; none may have thousands of digits."""
    line = f'{{"op":"loaded","error":{{"kind":"syntax","type":"x","message":"","line":{number}}}}}'
    for said, kind in ((f'{{"op":"queued","round":{number}}}', Queued), (line, Loaded)):
        with pair() as (judge, theirs):
            theirs.sendall(frame(said.encode()))
            with pytest.raises(BoxLied):
                judge.expect(kind, soon(1.0))


def test_a_repeated_message_is_refused() -> None:
    with pair() as (judge, theirs):
        theirs.sendall(message(op="queued", round=1) * 2)
        judge.expect(Queued, soon())
        with pytest.raises(BoxLied, match="queued came instead of returned"):
            judge.expect(Returned, soon())


def test_a_box_that_stops_reading_is_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(channel_module, "_SEND_SECONDS", 0.1)
    with pair() as (judge, _), within(0.3), pytest.raises(BoxGone):
        judge.send({"op": "load", "source": "x" * (16 * limits.MIB)})


@pytest.mark.parametrize("unread", [b"", b"something before the end"], ids=["nothing", "something"])
@pytest.mark.parametrize("ending", ["close", "shut"])
def test_a_closed_connection_is_noticed_behind_unread_bytes(unread: bytes, ending: str) -> None:
    with pair() as (judge, theirs):
        assert not judge.gone()
        speak(theirs, [(unread, 0)] if unread else [], ending)
        assert judge.gone()


def test_a_connection_closed_by_the_judge_is_gone() -> None:
    with pair() as (judge, _):
        judge._connection.close()
        assert judge.gone()
        with pytest.raises(BoxGone):
            judge.expect(Queued, soon())


def test_high_file_descriptors_work() -> None:
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


def test_thousands_of_the_largest_messages_cost_no_memory() -> None:
    """Each refusal frees everything: 6,000 fields that the protocol does not have, or a nesting of 30,000."""
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
