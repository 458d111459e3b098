"""Protections that only a container has."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from grader import limits
from grader.errors import BoxUnavailable
from grader.sandbox import docker_box, image
from grader.sandbox.box import Box, BoxEnd, BoxMaker, BoxPurpose, BoxSpec, EndReason
from grader.sandbox.control_groups import ControlGroup
from grader.sandbox.docker_engine import Engine, engine, is_orphan, labels
from tests.sandbox.talk import ask, run, within
from tests.sandbox.test_box import processes_with
from tests.sandbox.test_local_box import end_parent, start_parent

Start = Callable[..., Box]
pytestmark = pytest.mark.docker
SPEC = BoxSpec(BoxPurpose.RUN, program="probe.py", wall_seconds=60)


def names() -> set[str]:
    found = engine().client.containers(all=True, filters={"label": "grader.box=1"})
    return {entry["Names"][0].lstrip("/") for entry in found}


@pytest.fixture
def other_layout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Boxes that also see an environment in which the platform is installed."""
    prefix = tmp_path / "env"
    catalogue = prefix / "lib" / "python3.11" / "site-packages" / "grader" / "catalogue"
    catalogue.mkdir(parents=True)
    (catalogue / "hidden_cases.py").write_text("secret")
    (catalogue.parent.parent / "public.py").write_text("public")
    prefix.chmod(0o755)
    bound = image.layout().bound
    monkeypatch.setattr(image, "_bound_paths", lambda: (*bound, str(prefix)))
    for cached in (image.layout, image.image_tag):
        cached.cache_clear()
    yield prefix
    for cached in (image.layout, image.image_tag):
        cached.cache_clear()


def test_an_installed_platform_is_hidden(docker_boxes: BoxMaker, other_layout: Path, start: Start) -> None:
    tag = image.build_from_host()
    maker = docker_box.DockerBoxes()
    try:
        packages = other_layout / "lib" / "python3.11" / "site-packages"
        paths = [
            packages / "public.py",
            packages / "grader",
            packages / "grader" / "catalogue" / "hidden_cases.py",
        ]
        found = ask(start(maker), "can_read", paths=[str(path) for path in paths])["can_read"]
        assert list(found.values()) == [6, [], "No such file or directory"]
    finally:
        maker.close()
        engine().client.remove_image(tag, force=True)


def test_only_the_first_connection_is_accepted(docker_boxes: BoxMaker, start: Start) -> None:
    box = start(docker_boxes)
    assert isinstance(box, docker_box.DockerBox)
    found = ask(box, "can_read", paths=["/sock"])["can_read"]
    assert found == {"/sock": "Permission denied"}


def test_a_program_that_does_not_connect_is_our_fault(docker_boxes: BoxMaker) -> None:
    before = names()
    with pytest.raises(
        BoxUnavailable, match="did not connect: the process ended itself with exit code 2; it said: "
    ):
        docker_boxes.start(BoxSpec(BoxPurpose.RUN, program="missing.py"))
    assert within(60, lambda: not names() - before)


def test_a_start_that_takes_too_long_is_given_up(docker_boxes: BoxMaker) -> None:
    with pytest.raises(BoxUnavailable, match="did not connect within 0 s"):
        docker_boxes.start(BoxSpec(BoxPurpose.RUN, program="probe.py", start_seconds=0.0))


def test_a_start_that_burns_its_processor_time_is_given_up(docker_boxes: BoxMaker) -> None:
    # With a twentieth of a core, Python alone takes several times as long to start.
    burns = BoxSpec(BoxPurpose.RUN, program="probe.py", start_seconds=0.005, cpus=0.05)
    with pytest.raises(
        BoxUnavailable, match=r"did not connect within \d+ s, in which it used .* processor time"
    ):
        docker_boxes.start(burns)


def test_a_slow_start_on_a_busy_host_is_waited_for(
    docker_boxes: BoxMaker, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A box that gets hardly any processor time is late by the clock, but not faulty."""
    began = time.monotonic()
    monkeypatch.setattr(docker_box.DockerBox, "cpu_seconds", lambda _: (time.monotonic() - began) / 5000)
    monkeypatch.setattr(limits, "BOX_START_PATIENCE", 1e6)
    monkeypatch.setattr(limits, "IDLE_PATIENCE", 1e6)
    box = start(docker_boxes, start_seconds=0.01)
    assert time.monotonic() - began > 0.01
    assert ask(box, "see")["pid"] == 1


def test_processor_time_is_reported_from_every_source(
    docker_boxes: BoxMaker, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A worker in a container may see neither the host's control groups nor its processes."""
    box = start(docker_boxes)
    assert isinstance(box, docker_box.DockerBox)
    run(box, "import time\nwhile time.process_time() < 0.3: pass")
    told = box.cpu_seconds()
    pid, group = box._first_process()
    assert pid
    assert group is not None
    for seen in ((pid, None), (0, None)):
        monkeypatch.setattr(box, "_seen", seen)
        assert box._count_cpu() == pytest.approx(told, abs=0.05)


def test_containers_are_removed(docker_boxes: BoxMaker, start: Start) -> None:
    box = start(docker_boxes)
    assert box.id in names()
    box.kill()
    assert within(10, lambda: box.id not in names())


def test_a_killed_box_has_no_processes_left(
    docker_boxes: BoxMaker, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    marker = f"grader-test-{os.getpid()}-{time.monotonic_ns()}"
    box = start(docker_boxes, env={"MARKER": marker})
    assert isinstance(box, docker_box.DockerBox)
    _, group = box._first_process()
    # The engine ends boxes for an ordinary user, and for a worker in a container that cannot see their
    # groups.
    if group is None or os.geteuid() != 0:
        pytest.skip("this process may not end a box by its control group")
    assert ask(box, "fork", count=3, session=True)["made"] == 3
    ask(box, "write_output", bytes=1000)
    monkeypatch.setattr(Engine, "kill", None)
    assert box.kill() == BoxEnd(EndReason.KILLED)
    assert not group.is_populated()
    assert not processes_with(marker)
    assert box.output() == b"x" * 1000
    assert within(10, lambda: box.id not in names())


@pytest.mark.parametrize("why", ["invisible", "not ours", "frozen"])
def test_the_engine_ends_a_box_whose_group_cannot(
    docker_boxes: BoxMaker, start: Start, monkeypatch: pytest.MonkeyPatch, why: str
) -> None:
    marker = f"grader-test-{os.getpid()}-{time.monotonic_ns()}"
    box = start(docker_boxes, env={"MARKER": marker})
    assert isinstance(box, docker_box.DockerBox)
    if why == "invisible":
        monkeypatch.setattr(box, "_seen", (0, None))
    elif why == "not ours":
        monkeypatch.setattr(ControlGroup, "kill", lambda _: False)
    else:  # by somebody else; version 2 still ends it
        monkeypatch.setattr(docker_box, "KERNEL_SECONDS", 0.1)
        engine().pause(box.id)
    assert box.kill() == BoxEnd(EndReason.KILLED)
    assert not processes_with(marker)


def test_only_orphans_are_reaped(docker_boxes: BoxMaker, start: Start) -> None:
    mine = start(docker_boxes)
    parent, orphan, _ = start_parent("docker")
    docker_boxes.reap()
    assert {orphan, mine.id} <= names()
    end_parent(parent, signal.SIGKILL)
    docker_boxes.reap()
    assert orphan not in names()
    assert mine.id in names()
    assert ask(mine, "see")["pid"] == 1


def test_a_box_that_ended_early_is_not_kept_as_alive(
    docker_boxes: docker_box.DockerBoxes, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Short(docker_box.DockerBox):
        def __init__(self, *args: Any) -> None:
            super().__init__(*args)
            self.kill()

    monkeypatch.setattr(docker_box, "DockerBox", Short)
    box = docker_boxes.start(SPEC)
    assert box not in docker_boxes.alive


def test_one_failed_kill_does_not_keep_other_boxes(monkeypatch: pytest.MonkeyPatch) -> None:
    """At the end of a process. Another process's sweep removes that box."""
    from tests.components import need

    need("docker")
    maker = docker_box.DockerBoxes()
    boxes = {maker.start(SPEC) for _ in range(2)}
    kill, failed = docker_box.DockerBox.kill, []

    def fails_once(box: docker_box.DockerBox) -> BoxEnd:
        if not failed:
            failed.append(box)
            raise BoxUnavailable("the engine is away")
        return kill(box)

    monkeypatch.setattr(docker_box.DockerBox, "kill", fails_once)
    maker.close()
    monkeypatch.undo()
    (other,) = boxes - set(failed)
    assert other.end() is not None
    failed[0].kill()


def test_an_ended_process_leaves_no_box() -> None:
    from tests.components import need

    need("docker")
    parent, name, _ = start_parent("docker")
    end_parent(parent, signal.SIGINT)
    assert name not in names()


def test_labels_identify_orphans() -> None:
    mine = labels(60)
    assert not is_orphan(mine)
    pid, _, started = mine["grader.parent"].partition(":")
    assert is_orphan({**mine, "grader.parent": f"{pid}:{int(started) + 1}"}), "the number was used again"
    assert is_orphan({**mine, "grader.parent": "nonsense"})
    elsewhere = {**mine, "grader.host": "another", "grader.parent": "1:1"}
    assert not is_orphan(elsewhere), "a process in another namespace cannot be seen"
    past = {**elsewhere, "grader.deadline": "1"}
    assert is_orphan(past), "but its box's age is known"
    assert not is_orphan({**past, "grader.platform": "another"}), "which is for its own platform to say"
    before = {**past, "grader.boot": "another"}
    assert not is_orphan(before), "and no clock of another boot says it"
    assert is_orphan(before, runs=False)
    assert int(mine["grader.deadline"]) > 2 * time.time(), "for versions that compare it with the wall clock"


@pytest.mark.parametrize("hours", [-48, 48])
def test_a_clock_step_ends_no_box(monkeypatch: pytest.MonkeyPatch, hours: int) -> None:
    """A box of a living owner is not reaped, whatever a clock says; nor is one whose owner is invisible."""
    monkeypatch.setenv("GRADER_DATA_DIR", "/another/platform")
    theirs = labels(60)
    monkeypatch.delenv("GRADER_DATA_DIR")
    ours = labels(60)
    assert ours["grader.platform"] != theirs["grader.platform"]
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + hours * 3600)
    for marks in (ours, theirs):
        assert not is_orphan(marks)
        assert not is_orphan({**marks, "grader.host": "another"})
        assert not is_orphan({**marks, "grader.deadline": "1"}), "its owner lives, and knows better"
