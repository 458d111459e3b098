"""How servers bear clients that send and read slowly: ours against others.

For each server: pages a second for clients that behave; then N connections from one address that send half of their
headers or half of a body, drip a body, or do not read their answer, while somebody else asks for /health four times a
second. Kept are the times of those answers, how many of the N the server closed, the server's memory, and how long it
took to end with N held.

Servers: those of ``serving.SERVERS``. Those that are not installed are left out: ``pip install gevent granian uvicorn
a2wsgi``, or a PYTHONPATH that has them.

Target: with half headers and half or dripping bodies held, no answer of /health above 1 s, and none of them left
after 40 s. Connections that do not read sent whole requests, so they have their turn first.

Usage: python benchmarks/slow_clients.py [--json] [--held N] [--seconds S] [--again] [SERVER ...]
"""

from __future__ import annotations

import argparse
import http.client
import os
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parent))

from results import before, keep
from serving import SERVERS, installed, memory_mib, started

from grader.service.platform import open_platform
from grader.settings import Settings

HOST = "127.0.0.1"
TARGET_MS = 1000.0
PATIENCE_S = 5.0
CLOSED_AFTER_S = 40.0
START_S = 60.0
PAGE, BIG = "/challenges/vector_add", "/static/built/editor.js"
ASKERS, ASKED_S = 8, 8.0


def half_head(port: int) -> socket.socket:
    return _sent(port, f"GET /health HTTP/1.1\r\nHost: {HOST}\r\nX-Slow: ".encode())


def half_body(port: int) -> socket.socket:
    head = f"POST /sign-in HTTP/1.1\r\nHost: {HOST}\r\nContent-Length: 100000\r\n"
    return _sent(port, (head + "Content-Type: application/x-www-form-urlencoded\r\n\r\nname=").encode())


def no_reader(port: int) -> socket.socket:
    return _sent(port, f"GET {BIG} HTTP/1.1\r\nHost: {HOST}\r\n\r\n".encode(), receive_bytes=4096)


KINDS: dict[str, Callable[[int], socket.socket]] = {
    "half headers": half_head,
    "half bodies": half_body,
    "dripping bodies": half_body,  # and a byte each second, which moves a deadline that counts from the last byte
    "slow readers": no_reader,
}


def _sent(port: int, text: bytes, receive_bytes: int = 0) -> socket.socket:
    client = socket.socket()
    if receive_bytes:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_bytes)
    client.settimeout(PATIENCE_S)
    # One that cannot get in is kept, too: it counts as one that the server closed.
    with suppress(OSError):
        client.connect((HOST, port))
        client.sendall(text)
    return client


def closed(client: socket.socket) -> bool:
    """Whether the server ended this connection. Reads what it sent before that, if anything."""
    client.setblocking(False)
    try:
        while client.recv(65536):
            pass
    except BlockingIOError:
        return False
    except OSError:
        return True
    return True


def ask(port: int, path: str = "/health") -> float | None:
    """Milliseconds to a whole answer over a new connection, or None if it did not come in time."""
    began = time.perf_counter()
    connection = http.client.HTTPConnection(HOST, port, timeout=PATIENCE_S)
    try:
        connection.request("GET", path)
        answer = connection.getresponse()
        answer.read()
        return (time.perf_counter() - began) * 1000 if answer.status == 200 else None
    except (OSError, http.client.HTTPException):
        return None
    finally:
        connection.close()


def asked(port: int, seconds: float) -> dict[str, Any]:
    """/health, four times a second, for these seconds."""
    times: list[float | None] = []
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        times.append(ask(port))
        time.sleep(0.25)
    known = [time for time in times if time is not None]
    return {
        "asked": len(times),
        "unanswered": len(times) - len(known),
        "median_ms": round(statistics.median(known), 1) if known else None,
        "max_ms": round(max(known), 1) if known else None,
    }


def held(port: int, kind: str, number: int, seconds: float, memory: Callable[[], float]) -> dict[str, Any]:
    """What somebody else notices of ``number`` such connections, and what becomes of these."""
    began = time.monotonic()
    with ThreadPoolExecutor(32) as crowd:
        clients = list(crowd.map(lambda _: KINDS[kind](port), range(number)))
    ends = threading.Event()
    if kind == "dripping bodies":
        threading.Thread(target=_drip, args=(clients, ends), daemon=True).start()
    try:
        figures = asked(port, seconds) | {"memory_mib": memory()}
        if kind == "slow readers":  # to look is to read
            return figures
        left = number
        while left and time.monotonic() - began < CLOSED_AFTER_S:
            time.sleep(0.5)
            left = sum(not closed(client) for client in clients)
        return figures | {"left": left, "seconds": round(time.monotonic() - began, 1)}
    finally:
        ends.set()
        for client in clients:
            client.close()


def _drip(clients: list[socket.socket], ends: threading.Event) -> None:
    while not ends.wait(1.0):
        for client in clients:
            with suppress(OSError):
                client.send(b"x")


def throughput(port: int) -> dict[str, float]:
    """Of clients that behave, each with one connection that it keeps."""

    def client(_: int) -> list[float]:
        times: list[float] = []
        connection = http.client.HTTPConnection(HOST, port, timeout=30)
        until = time.monotonic() + ASKED_S
        while time.monotonic() < until:
            began = time.perf_counter()
            try:
                connection.request("GET", PAGE)
                connection.getresponse().read()
            except (OSError, http.client.HTTPException):
                connection.close()
                continue
            times.append((time.perf_counter() - began) * 1000)
        connection.close()
        return times

    with ThreadPoolExecutor(ASKERS) as crowd:
        times = sorted(time for each in crowd.map(client, range(ASKERS)) for time in each)
    return {
        "pages_per_s": round(len(times) / ASKED_S, 1),
        "median_ms": round(statistics.median(times), 1),
        "p99_ms": round(times[int(len(times) * 0.99)], 1),
    }


@contextmanager
def served(name: str, folder: Path) -> Iterator[tuple[int, subprocess.Popen[str], float]]:
    """Its port, its process, and the seconds until it answered."""
    settings = Settings(data_dir=folder, redis_url=f"unix://{folder}/nobody.sock", host=HOST, box="local")
    open_platform(settings).close()
    began = time.monotonic()
    with started(settings, name) as (_, port, process):
        while ask(port) is None:
            if process.poll() is not None or time.monotonic() - began > START_S:
                raise SystemExit(f"{name} did not start")
            time.sleep(0.05)
        yield port, process, round(time.monotonic() - began, 2)


def ending(port: int, process: subprocess.Popen[str], number: int) -> float | None:
    """Seconds from SIGTERM to its end with ``number`` half requests held; None: more than 30."""
    clients = [half_head(port) for _ in range(number)]
    began = time.monotonic()
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(30)
        return round(time.monotonic() - began, 2)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        return None
    finally:
        for client in clients:
            client.close()


def measure(name: str, number: int, seconds: float) -> dict[str, Any]:
    row: dict[str, Any] = {"server": name}
    for kind in KINDS:  # a new server for each kind, so that none suffers from the one before
        with tempfile.TemporaryDirectory(prefix="slow") as folder, served(name, Path(folder)) as at:
            port, process, row["start_s"] = at
            if "throughput" not in row:
                ask(port, PAGE)
                row["throughput"] = throughput(port)
                row["alone"] = asked(port, 2.0)
            row[kind] = held(port, kind, number, seconds, lambda pid=process.pid: memory_mib(pid))
            row["after"] = asked(port, 2.0)
            if kind == "half headers":
                row["end_s"] = ending(port, process, min(number, 50))
    return row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0] if __doc__ else None)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--held", type=int, default=500)
    parser.add_argument("--seconds", type=float, default=8.0)
    parser.add_argument("--again", action="store_true", help="keep earlier rows of these servers, too")
    parser.add_argument("servers", nargs="*", metavar="SERVER", help=", ".join(SERVERS))
    options = parser.parse_args()
    rows = []
    for name in options.servers or SERVERS:
        if not installed(name):
            print(f"{name}: not installed", file=sys.stderr)
            continue
        rows.append(measure(name, options.held, options.seconds))
        print(rows[-1], flush=True)
    measured = {row["server"] for row in rows}
    kept = before("slow_clients").get("rows", [])
    rows += [old for old in kept if options.again or old["server"] not in measured]
    ours = next((row for row in rows if row["server"] == "ours"), None)
    met = ours is not None and all(
        not ours[kind]["unanswered"] and ours[kind]["max_ms"] < TARGET_MS and not ours[kind]["left"]
        for kind in ("half headers", "half bodies", "dripping bodies")
    )
    print(
        f"target: ours answers within {TARGET_MS:g} ms, and closes what is held: {'met' if met else 'MISSED'}"
    )
    if options.json:
        keep("slow_clients", {"held": options.held, "target_ms": TARGET_MS, "rows": rows})
    sys.exit(not met)


if __name__ == "__main__":
    main()
