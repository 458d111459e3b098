"""What a box that sends nonsense costs the judge, until the judge closes the connection.

The first message that breaks the protocol is the last one that is read. Measured for each kind of nonsense: how many
such refusals a judge does in a second, the dearest one, and the memory that a flood leaves. A line that drips or
never ends costs the wait that the judge allows, and this much processor time.

Usage: python benchmarks/hostile_messages.py [--json]
"""

from __future__ import annotations

import resource
import socket
import statistics
import struct
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from results import keep

from grader import limits
from grader.judge.channel import BoxLied, BoxSilent, Channel
from grader.judge.messages import Queued

REPEATS = 200
# Seconds of a drip: long enough to measure the judge's processor time.
DRIP_SECONDS = 3.0
# A refusal that takes longer than this could be felt by the next submission.
MOST_MS = 100.0

_FIELDS = b",".join(b'"%d":1' % number for number in range(6000))
_NAMES = b",".join(b'"#"' for _ in range(12_000))
NONSENSE = {
    "not JSON": b"\xff" * 60_000,
    "nesting": b"[" * 60_000,
    "digits": b'{"op":"queued","round":' + b"9" * 60_000 + b"}",
    "a long string": b'{"op":"' + b"x" * 60_000 + b'"}',
    "escapes": b'{"op":"' + b"\\u0041" * 9_000 + b'"}',
    "6,000 unknown fields": b'{"op":"hello",' + _FIELDS + b"}",
    "12,000 wrong names": b'{"op":"returned","round":1,"seen":{"library_ops":[' + _NAMES + b"]}}",
    "another message": b'{"op":"hello"}',
    "a forged verdict": b'{"op":"verdict","verdict":"accepted"}',
}


def refusal_ms(body: bytes) -> list[float]:
    """Milliseconds from a message's being there to the line's being cut, for each repeat."""
    found = []
    for _ in range(REPEATS):
        ours, theirs = socket.socketpair()
        with ours, theirs:
            theirs.sendall(struct.pack("<I", len(body)) + body)
            judge = Channel(ours)
            start = time.perf_counter()
            with suppress(BoxLied):
                judge.expect(Queued, start + 10.0)
            found.append((time.perf_counter() - start) * 1e3)
    return found


def flood() -> dict[str, float]:
    """A box that sends as fast as it can: what the judge reads of it, and what it keeps."""
    body = struct.pack("<I", len(NONSENSE["nesting"])) + NONSENSE["nesting"]
    sent = [0]

    def pour(theirs: socket.socket) -> None:
        with suppress(OSError):
            while True:
                sent[0] += theirs.send(body)

    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    taken = _beside(pour, lambda judge: _refuse(judge))
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / limits.KIB
    return {"cut_after_ms": taken * 1e3, "bytes_it_could_send": float(sent[0]), "judge_grew_mib": grown}


def drip() -> dict[str, float]:
    """A byte each millisecond of a message that never ends: waited for to the deadline, and the processor it takes."""

    def drop(theirs: socket.socket) -> None:
        with suppress(OSError):
            theirs.sendall(struct.pack("<I", limits.MESSAGE_BYTES))
            while True:
                theirs.send(b" ")
                time.sleep(1e-3)

    def wait(judge: Channel) -> float:
        start, used = time.perf_counter(), time.thread_time()
        with suppress(BoxSilent):
            judge.expect(Queued, start + DRIP_SECONDS)
        shares.append((time.thread_time() - used) / DRIP_SECONDS)
        return time.perf_counter() - start

    shares: list[float] = []
    waited = _beside(drop, wait)
    return {"deadline_s": DRIP_SECONDS, "ended_after_s": waited, "share_of_a_core": shares[0]}


def _refuse(judge: Channel) -> float:
    start = time.perf_counter()
    with suppress(BoxLied):
        judge.expect(Queued, start + 10.0)
    return time.perf_counter() - start


def _beside(talk: Callable[[socket.socket], None], listen: Callable[[Channel], float]) -> float:
    ours, theirs = socket.socketpair()
    thread = threading.Thread(target=talk, args=(theirs,), daemon=True)
    with ours, theirs:
        thread.start()
        found = listen(Channel(ours))
        ours.close()
        thread.join()
    return found


def measure() -> dict[str, object]:
    refusals: dict[str, dict[str, float]] = {}
    for name, body in NONSENSE.items():
        times = refusal_ms(body)
        middle = statistics.median(times)
        refusals[name] = {
            "bytes": len(body),
            "median_ms": round(middle, 4),
            "longest_ms": round(max(times), 4),
            "messages_per_s": round(1e3 / middle),
            "mb_per_s": round(len(body) / middle / 1e3, 1),
        }
    return {"messages_read_before_the_cut": 1, "refusals": refusals, "flood": flood(), "drip": drip()}


def main() -> None:
    found = measure()
    refusals = found["refusals"]
    assert isinstance(refusals, dict)
    for name, figures in refusals.items():
        print(
            f"{name:<22} {figures['bytes']:>6} bytes: cut after {figures['median_ms']:7.3f} ms (longest "
            f"{figures['longest_ms']:7.3f}), {figures['messages_per_s']:>7,} a second, {figures['mb_per_s']:>7} MB/s"
        )
    for name in ("flood", "drip"):
        print(f"{name}: {found[name]}")
    if "--json" in sys.argv:
        keep("hostile_messages", found)
    if max(figures["median_ms"] for figures in refusals.values()) > MOST_MS:
        raise SystemExit(f"a refusal takes longer than {MOST_MS:g} ms")


if __name__ == "__main__":
    main()
