"""When a judge of a GPU starts its spare boxes, and how many."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from grader import limits
from grader.errors import BoxUnavailable
from grader.judge.host_device import HostDevice
from grader.judge.runner_client import RunnerClient
from grader.judge.spares import Spares
from grader.languages import Language
from grader.sandbox import pool as pool_module
from grader.sandbox.box import IMPORTED, USE_GPU, BoxEnd, BoxPurpose, BoxSpec, EndReason
from grader.sandbox.gpu import Gpu as GpuOfHost
from grader.sandbox.pool import SpareBoxes
from tests.sandbox.talk import within

RUNNERS = Path(__file__).resolve().parents[2] / "sandbox" / "runner"


class Gpu(HostDevice):
    """As far as spares are concerned."""

    on_processor = False


class Ready:
    def __init__(self) -> None:
        self.id = "ready"
        self.connection, self.runner = socket.socketpair()
        self.killed = self.paused = False
        self.hello()

    def hello(self) -> None:
        self.runner.send(b"hello")

    def pause(self) -> None:
        self.paused = True

    def resume(self) -> None:
        self.paused = False

    def end(self, wait_s: float = 0.0) -> BoxEnd | None:
        return BoxEnd(EndReason.KILLED) if self.killed else None

    def kill(self) -> BoxEnd:
        self.killed = True
        self.connection.close()
        self.runner.close()
        return BoxEnd(EndReason.KILLED)

    def live_for(self, seconds: float) -> None:
        """Its clock means nothing here."""


class Loading(Ready):
    """A box whose runner has not yet."""

    def hello(self) -> None:
        """When the test says so, by ``runner``."""


class Maker:
    name = about = "ready"

    def __init__(self) -> None:
        self.kind = Ready
        self.made: list[tuple[BoxSpec, Ready]] = []
        self.go_on = threading.Event()
        self.go_on.set()
        self.starting = 0

    def start(self, spec: BoxSpec) -> Any:
        self.starting += 1
        assert self.go_on.wait(60)
        self.made.append((spec, self.kind()))
        return self.made[-1][1]

    def reap(self) -> int:
        return 0


@pytest.fixture
def maker() -> Maker:
    return Maker()


@pytest.fixture
def spares(maker: Maker) -> Iterator[Spares]:
    made = Spares(Gpu(), maker, 1)
    yield made
    maker.go_on.set()
    made.close()
    for _, box in maker.made:
        box.kill()


class Stuck(Loading):
    """One whose engine pauses it and does not let it go on."""

    fails_to_pause = False

    def pause(self) -> None:
        super().pause()
        if self.fails_to_pause:
            raise BoxUnavailable("no answer in time")

    def resume(self) -> None:
        raise BoxUnavailable("no answer in time")


class Unsaid(Stuck):
    """It does not even report that it has paused it."""

    fails_to_pause = True


def _take(spares: Spares) -> None:
    spares.boxes.start(spares.boxes._spec)


def _wait(spares: Spares) -> None:
    for pool in spares._all:
        pool.wait()


def test_the_next_spare_starts_when_one_is_taken(maker: Maker, monkeypatch: pytest.MonkeyPatch) -> None:
    """It loads for seconds. Others start when nothing is judged, or when there is none for a submission."""
    monkeypatch.setattr(os, "cpu_count", lambda: 64)
    spares = Spares(Gpu(), maker, 1)
    spares.refill()
    _wait(spares)
    assert len(maker.made) == 2, "a control's and one of the language"
    spares.expect(Language.TRITON)
    _take(spares)
    _wait(spares)
    assert spares.boxes.ready()
    spares.close()
    for _, box in maker.made:
        box.kill()


def test_spares_follow_the_last_minutes_submissions(maker: Maker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 64)
    spares = Spares(Gpu(), maker, 1)
    for _ in range(5):
        spares._came[Language.TRITON].append(float("inf"))
    spares.expect(Language.TRITON)
    _wait(spares)
    assert spares.boxes.ready() == len(maker.made) == 7
    for _ in range(20):
        spares._came[Language.TRITON].append(float("inf"))
    assert spares._wanted(Language.TRITON) == limits.SPARE_BOXES
    # When nobody comes any more, they are not kept.
    spares._came.clear()
    spares.refill()
    assert spares.boxes.ready() == 1
    spares.close()


def test_spares_are_bounded_by_parallel_starts(maker: Maker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 4)
    spares = Spares(Gpu(), maker, 1)
    for _ in range(5):
        spares._came[Language.TRITON].append(float("inf"))
    assert spares._wanted(Language.TRITON) == 2


def test_timing_pauses_loading_spares_and_starts_none(maker: Maker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 64)
    spares = Spares(Gpu(), maker, 1)
    maker.kind = Loading
    spares.refill()
    assert within(60, lambda: len(maker.made) == 2)
    assert within(60, lambda: not any(pool._making for pool in spares._all))
    spares.quiet()
    assert all(box.paused for _, box in maker.made)
    spares.boxes.count = 2
    spares.boxes.refill()
    assert not within(0.2, lambda: maker.starting > 2)
    maker.kind = Ready
    spares.release()
    assert not any(box.paused for _, box in maker.made)
    for _, box in maker.made[:2]:
        box.runner.send(b"hello")
    _wait(spares)
    assert spares.boxes.ready() == 2
    spares.close()


@pytest.mark.parametrize("kind", [Stuck, Unsaid])
def test_a_paused_spare_is_not_handed_out(
    spares: Spares, maker: Maker, kind: type[Stuck], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Protects students against a box in which their source never loads, and the judge against waiting for it."""
    monkeypatch.setattr(pool_module, "_UNPAUSED_SECONDS", 0.2)
    maker.kind = kind
    spares.refill()
    # The control's and one of the language: a box that started only after the timing would be silent for
    # minutes.
    assert within(60, lambda: len(maker.made) == 2 and not any(pool._making for pool in spares._all))
    quiet = threading.Thread(target=spares.quiet)
    quiet.start()
    quiet.join(20)
    assert not quiet.is_alive()
    spares.release()
    assert all(box.killed for _, box in maker.made)
    _wait(spares)
    maker.kind = Ready
    spares.boxes.refill()
    _wait(spares)
    given: Any = spares.boxes.start(spares.boxes._spec)
    assert isinstance(given, Ready)
    assert not given.paused


def test_timing_waits_for_a_starting_box(spares: Spares, maker: Maker) -> None:
    maker.go_on.clear()
    spares.refill()
    assert within(60, lambda: maker.starting > 0)
    quiet = threading.Thread(target=spares.quiet)
    quiet.start()
    quiet.join(0.1)
    assert quiet.is_alive()
    maker.go_on.set()
    quiet.join(60)
    assert not quiet.is_alive()


def test_a_submission_takes_the_starting_spare(spares: Spares, maker: Maker) -> None:
    maker.go_on.clear()
    spares.expect(Language.TRITON)
    assert within(60, lambda: maker.starting == 1)
    taken = threading.Thread(target=_take, args=(spares,))
    taken.start()
    maker.go_on.set()
    taken.join(60)
    assert len(maker.made) == 1


ON_GPU = BoxSpec(BoxPurpose.RUN, gpu=GpuOfHost(0, "GPU-1", ("/dev/nvidia0",)))


# A real runner with a fake GPU: it reports its progress on standard output.
RUNNER = """
import sys
sys.path.insert(0, sys.argv[2])
from main import Runner
def prepare(before_gpu):
    print("imports", flush=True)
    before_gpu()
    print("uses the GPU", flush=True)
Runner(sys.argv[1], prepare).serve()
"""


class Importing(Ready):
    def hello(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-I", "-c", RUNNER, f"fd:{self.runner.fileno()}", str(RUNNERS)],
            pass_fds=[self.runner.fileno()],
            stdout=subprocess.PIPE,
        )
        self.runner.close()

    def said(self) -> bytes:
        assert self.process.stdout is not None
        return self.process.stdout.readline()

    def cpu_seconds(self) -> float:
        return 0.0

    def kill(self) -> BoxEnd:
        self.process.kill()
        self.process.wait()
        assert self.process.stdout is not None
        self.process.stdout.close()
        return super().kill()


def test_timing_keeps_importing_spares_off_the_gpu(maker: Maker) -> None:
    maker.kind = Importing
    pool = SpareBoxes(maker, ON_GPU, 1)
    pool.refill()
    assert within(60, lambda: bool(maker.made) and not pool._making)
    pool.hold()
    ((_, box),) = maker.made
    assert box.said() == b"imports\n"
    assert not box.paused
    assert not within(0.3, lambda: bool(pool.ready()))
    pool.release()
    assert box.said() == b"uses the GPU\n"
    pool.wait()
    taken = pool.start(ON_GPU)
    assert taken is box
    RunnerClient(taken, HostDevice()).hello()
    pool.close()
    # A box that is started on demand gets leave from the judge.
    other = maker.start(ON_GPU)
    RunnerClient(other, HostDevice()).hello()
    assert other.said() == b"imports\n"
    assert other.said() == b"uses the GPU\n"
    other.kill()
    box.kill()


def test_a_spare_waiting_for_the_gpu_counts_as_loading(maker: Maker, monkeypatch: pytest.MonkeyPatch) -> None:
    """Protects the next timing from a box that has just begun to use the GPU."""
    monkeypatch.setattr(limits, "BOX_START_PATIENCE", 0.2 / limits.BOX_START_SECONDS)
    maker.kind = Loading
    pool = SpareBoxes(maker, ON_GPU, 1)
    # A timing starts as soon as the box is there.
    maker.go_on.clear()
    pool.refill()
    assert within(60, lambda: maker.starting == 1)
    timing = threading.Thread(target=pool.hold)
    timing.start()
    assert within(60, lambda: pool._held)
    maker.go_on.set()
    timing.join(60)
    ((_, box),) = maker.made
    box.runner.send(IMPORTED)
    assert not within(0.5, lambda: bool(pool.ready()))
    monkeypatch.undo()
    pool.release()
    assert box.runner.recv(len(USE_GPU)) == USE_GPU
    assert not within(0.5, lambda: bool(pool.ready())), "it has not said hello"
    pool.hold()
    assert box.paused
    box.runner.send(b"hello")
    pool.close()
    assert box.killed
