"""A pool never leaks a box if starts, boxes, engines or its process fail."""

from __future__ import annotations

import gc
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from grader.errors import BoxUnavailable
from grader.sandbox import bubblewrap_box, docker_engine
from grader.sandbox.box import Box, BoxMaker, BoxPurpose, BoxSpec
from grader.sandbox.choose import make_boxes
from grader.sandbox.docker_box import DockerBox
from grader.sandbox.docker_engine import engine, is_orphan
from grader.sandbox.parent import is_left_behind
from grader.sandbox.pool import SpareBoxes, _is_well
from tests.sandbox.engine import OwnEngine
from tests.sandbox.talk import ask, within
from tests.sandbox.test_local_box import end_parent

SPEC = BoxSpec(BoxPurpose.RUN, program="probe.py", wall_seconds=60)

# Fills a pool, hands one box out, and goes on, if asked with more starts than can ever finish.
OWNER = """
import sys, time
from dataclasses import replace
from grader.sandbox.choose import make_boxes
from grader.sandbox.pool import SpareBoxes
from tests.sandbox.test_pool_failures import SPEC
pool = SpareBoxes(make_boxes(sys.argv[1]), SPEC, count=int(sys.argv[2]))
given = pool.start(SPEC)
pool.refill()
if sys.argv[3] == "filled":
    pool.wait()
print("ready", flush=True)
time.sleep(600)
"""


def start_owner(kind: str, count: int, when: str) -> subprocess.Popen[str]:
    owner = subprocess.Popen(
        [sys.executable, "-c", OWNER, kind, str(count), when], stdout=subprocess.PIPE, text=True
    )
    assert owner.stdout is not None
    assert owner.stdout.readline() == "ready\n"
    return owner


def left_behind(kind: str) -> list[str]:
    """Leftovers of dead processes of this kind: containers, processes, control groups, folders."""
    if kind == "docker":
        return [found for found, marks, runs in engine().boxes() if is_orphan(marks, runs)]
    folders = [folder.name for folder in Path(tempfile.gettempdir()).glob("grader-*")]
    groups = [group.name for group in Path("/sys/fs/cgroup").glob("**/grader-group-*") if group.is_dir()]
    running = [name for _, name in bubblewrap_box._named_processes()]
    named = {"local": folders, "group": groups, "bubblewrap": [*running, *folders]}
    kinds = ["local"] if kind == "local" else ["bubblewrap", "group"]
    return [name for each in kinds for name in named[each] if is_left_behind(each, name)]


def first_process(box: Box) -> int:
    if isinstance(box, DockerBox):
        return int(engine().state(box._container)["Pid"])
    return int(getattr(box, "_first_pid", 0) or box._process.pid)  # type: ignore[attr-defined]


class Failing:
    """A maker that fails on demand, and can be held in the middle of a start."""

    def __init__(self, maker: BoxMaker) -> None:
        self.name, self.about = maker.name, maker.about
        self._maker = maker
        self.fails = 0
        self.made: list[Box] = []
        self.reached, self.go_on = threading.Event(), threading.Event()
        self.go_on.set()

    def start(self, spec: BoxSpec) -> Box:
        self.reached.set()
        assert self.go_on.wait(60)
        if self.fails:
            self.fails -= 1
            raise BoxUnavailable("no box today")
        self.made.append(self._maker.start(spec))
        return self.made[-1]

    def reap(self) -> int:
        return self._maker.reap()


def test_a_failed_start_is_repeated_by_the_next_refill(local_boxes: BoxMaker) -> None:
    maker = Failing(local_boxes)
    maker.fails = 1
    pool = SpareBoxes(maker, SPEC, count=2)
    pool.refill()
    pool.wait()
    assert pool.ready() == 0
    maker.fails = 1
    with pytest.raises(BoxUnavailable, match="no box today"):
        pool.start(SPEC)
    pool.refill()
    pool.wait()
    assert pool.ready() == 2
    pool.close()
    assert [box.end() is None for box in maker.made] == [False, False]


def test_closing_during_a_start_ends_the_started_box(boxes: BoxMaker) -> None:
    maker = Failing(boxes)
    maker.go_on.clear()
    pool = SpareBoxes(maker, SPEC, count=2)
    pool.refill()
    assert maker.reached.wait(60)
    closing = threading.Thread(target=pool.close)
    closing.start()
    assert within(60, lambda: pool._closed)
    maker.go_on.set()
    closing.join(60)
    assert not closing.is_alive()
    assert len(maker.made) == 1, "none is started any more"
    assert maker.made[0].end() is not None
    pool.refill()
    assert pool.ready() == 0


def test_a_spare_that_was_killed_is_replaced(boxes: BoxMaker) -> None:
    pool = SpareBoxes(boxes, SPEC, count=2)
    pool.refill()
    pool.wait()
    spares = [box for box, _ in pool._spares]
    for box in spares:
        os.kill(first_process(box), signal.SIGKILL)
    assert within(60, lambda: not any(map(_is_well, spares)))
    given = pool.start(SPEC)
    assert given not in spares
    assert ask(given, "see")["pid"]
    given.kill()
    pool.close()
    assert within(60, lambda: all(box.end() is not None for box in spares))


def test_one_failed_kill_does_not_keep_other_boxes(local_boxes: BoxMaker) -> None:
    class Stubborn:
        def __init__(self, box: Box) -> None:
            self.id, self.connection, self.box = box.id, box.connection, box

        def kill(self) -> None:
            raise BoxUnavailable("the engine is away")

    pool = SpareBoxes(local_boxes, SPEC, count=2)
    pool.refill()
    pool.wait()
    (first, when), (second, _) = pool._spares
    pool._spares[0] = (Stubborn(first), when)  # type: ignore[assignment]
    pool.close()
    assert second.end() is not None
    first.kill()


def test_no_box_outlives_a_killed_owner(boxes: BoxMaker) -> None:
    owner = start_owner(boxes.name, 2, "filled")
    end_parent(owner, signal.SIGKILL)
    boxes.reap()
    assert within(60, lambda: not left_behind(boxes.name))


@pytest.mark.parametrize("seed", range(3))
def test_no_box_outlives_an_owner_killed_while_starting_boxes(boxes: BoxMaker, seed: int) -> None:
    owner = start_owner(boxes.name, 1000, "filling")
    # Each seed has another moment: between boxes, or anywhere within a start.
    time.sleep(random.Random(seed).uniform(0.0, 0.5))
    end_parent(owner, signal.SIGKILL)

    def clean() -> bool:
        boxes.reap()  # an engine may still be making a requested box
        return not left_behind(boxes.name)

    assert within(60, clean)


@pytest.fixture
def own_engine(monkeypatch: pytest.MonkeyPatch) -> Iterator[OwnEngine]:
    folder = Path(tempfile.mkdtemp(prefix="engine"))
    own = OwnEngine(folder)
    monkeypatch.setenv("DOCKER_HOST", own.url)
    monkeypatch.setattr(docker_engine, "_engine", None)
    own.start()
    yield own
    own.end()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.mark.docker
@pytest.mark.matrix  # an engine takes seconds to end and to start
# Docker's client drops a socket that could not connect without closing it.
@pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning")
def test_a_restarted_engine_has_no_old_boxes(own_engine: OwnEngine) -> None:
    maker = make_boxes("docker")
    pool = SpareBoxes(maker, SPEC, count=2)
    pool.refill()
    pool.wait()
    given, before = pool.start(SPEC), [box for box, _ in pool._spares]
    own_engine.end()
    with pytest.raises(BoxUnavailable):
        given.kill()
    with pytest.raises(BoxUnavailable):
        pool.start(SPEC)
    own_engine.start()
    fresh = pool.start(SPEC)
    assert ask(fresh, "see")["pid"] == 1
    assert within(60, lambda: all(box.end() is not None for box in (given, *before)))
    fresh.kill()
    pool.close()
    assert within(60, lambda: not engine().boxes()), "also of those that nobody could kill"
    maker.close()  # type: ignore[attr-defined]
    gc.collect()  # while such sockets are expected
