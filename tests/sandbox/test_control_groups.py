"""Control groups for boxes. Uses the kernel's own if this process may make some."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from grader import limits
from grader.errors import BoxUnavailable
from grader.sandbox import control_groups
from grader.sandbox.box import BoxPurpose, BoxSpec
from grader.sandbox.control_groups import MAIN, ControlGroup, Groups, Tree, find_groups

SPEC = BoxSpec(BoxPurpose.RUN, memory_bytes=512 * limits.MIB, pids=77, cpus=0.5)
# Version 2 on a host with both: without controllers, but with groups, processes in them, and cgroup.kill.
PLACES = [Path("/sys/fs/cgroup"), Path("/sys/fs/cgroup/unified")]


@pytest.fixture
def real() -> Iterator[Path]:
    """A folder of the kernel's control groups, version 2."""
    for place in PLACES:
        base = place / f"grader-test-{os.getpid()}"
        if (place / "cgroup.controllers").exists() and os.access(place, os.W_OK):
            base.mkdir()
            yield base
            for folder in sorted(base.glob("**/"), reverse=True):
                folder.rmdir()
            return
    pytest.skip("this process can make no control groups of version 2")


@pytest.fixture
def sleeper() -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(["/bin/sleep", "600"])
    yield process
    process.kill()
    process.wait(30)


def test_a_group_holds_and_kills_processes_and_is_removed(
    real: Path, sleeper: subprocess.Popen[bytes]
) -> None:
    group = Groups([Tree(real, lambda _: {})], "").make(SPEC)
    group.add(sleeper.pid)
    assert group._pids() == [sleeper.pid]
    assert group.memory_kills() == 0
    group.kill_all()
    assert sleeper.wait(30) == -9
    group.remove()
    group.remove()
    assert [entry for entry in real.iterdir() if entry.is_dir()] == []


def test_processes_of_a_subgroup_belong_to_the_group(real: Path, sleeper: subprocess.Popen[bytes]) -> None:
    below = real / "below"
    below.mkdir()
    group = ControlGroup([real])
    assert not group.kill(), "nobody is there"
    (below / "cgroup.procs").write_text(str(sleeper.pid))
    assert not group.wait_until_empty(0.0)
    assert group.kill()
    assert sleeper.wait(30) == -9
    assert group.wait_until_empty(5.0)


def test_an_invisible_process_counts_as_member_and_is_not_killed(tmp_path: Path) -> None:
    """In another PID namespace the kernel shows 0 for a process; version 1."""
    group = ControlGroup([tmp_path])
    assert not group.is_populated()
    (tmp_path / "below").mkdir()
    (tmp_path / "below" / "cgroup.procs").write_text("0\n")
    assert group.is_populated()
    (tmp_path / "cgroup.procs").write_text("0\n")
    assert not group.kill()


def test_only_groups_of_dead_owners_are_swept(
    real: Path, sleeper: subprocess.Popen[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = subprocess.Popen(["true"])
    gone.wait(30)
    made = Groups([Tree(real, lambda _: {})], "")
    mine = made.make(SPEC)
    usual = control_groups.owned_name("group")
    monkeypatch.setattr(
        control_groups, "owned_name", lambda _: usual.replace(f"-{os.getpid()}-", f"-{gone.pid}-")
    )
    made.make(SPEC).add(sleeper.pid)
    assert made.sweep() == 1
    assert sleeper.wait(30) == -9
    assert [entry.name for entry in real.iterdir() if entry.is_dir()] == [mine._folders[0].name]
    mine.remove()


def test_our_processes_move_to_a_subgroup(real: Path, sleeper: subprocess.Popen[bytes]) -> None:
    """Version 2 allows no process in a group whose children have limits."""
    (real / "cgroup.procs").write_text(str(sleeper.pid))
    control_groups._move_down(real)
    assert (real / "cgroup.procs").read_text() == ""
    assert (real / MAIN / "cgroup.procs").read_text().split() == [str(sleeper.pid)]
    sleeper.kill()
    sleeper.wait(30)


def test_limits_are_written_for_version_2(tmp_path: Path) -> None:
    """The kernel's files, as far as a test can imitate them."""
    folder = tmp_path / "group"
    folder.mkdir()
    for name in ("memory.max", "memory.swap.max", "memory.oom.group", "pids.max", "cpu.max", "cpu.weight"):
        (folder / name).touch()
    control_groups._set(folder, control_groups._all_2(SPEC))
    told = {file.name: file.read_text() for file in folder.iterdir()}
    assert told == {
        "memory.max": str(512 * limits.MIB),
        "memory.swap.max": "0",
        "memory.oom.group": "1",
        "pids.max": "77",
        "cpu.max": "50000 100000",
        "cpu.weight": "100",
    }
    (folder / "memory.swap.max").unlink()  # a kernel that does not count swap
    control_groups._set(folder, control_groups._all_2(SPEC))
    (folder / "pids.max").unlink()
    with pytest.raises(FileNotFoundError):
        control_groups._set(folder, control_groups._all_2(SPEC))


@pytest.mark.parametrize("version", [1, 2])
def test_lookalike_folders_are_no_control_groups(tmp_path: Path, version: int) -> None:
    if version == 2:
        (tmp_path / "cgroup.controllers").write_text("memory pids\n")
        (tmp_path / "cgroup.subtree_control").touch()
    else:
        (tmp_path / "memory").mkdir()
        (tmp_path / "pids").mkdir()
    assert find_groups(tmp_path) is None
    assert [path for path in tmp_path.glob("**/*") if path.name.startswith("grader-group")] == []


def test_out_of_memory_kills_are_counted_in_both_versions(tmp_path: Path) -> None:
    group = ControlGroup([tmp_path])
    assert group.memory_kills() == 0
    (tmp_path / "memory.oom_control").write_text("oom_kill_disable 0\nunder_oom 0\noom_kill 2\n")
    assert group.memory_kills() == 2
    (tmp_path / "memory.events").write_text("low 0\noom 4\noom_kill 3\n")
    assert group.memory_kills() == 3


def test_a_group_is_out_of_memory_only_at_its_own_limit(tmp_path: Path) -> None:
    """The kernel also kills if the host runs out of memory, and counts that in the process's group."""
    group = ControlGroup([tmp_path])
    (tmp_path / "memory.oom_control").write_text("oom_kill_disable 0\nunder_oom 0\noom_kill 1\n")
    (tmp_path / "memory.limit_in_bytes").write_text("1000000\n")
    (tmp_path / "memory.max_usage_in_bytes").write_text("700000\n")
    assert not group.out_of_memory()
    (tmp_path / "memory.max_usage_in_bytes").write_text("999000\n")
    assert group.out_of_memory()
    (tmp_path / "memory.events").write_text("low 0\noom 0\noom_kill 1\n")
    assert not group.out_of_memory()
    (tmp_path / "memory.events").write_text("low 0\noom 1\noom_kill 1\n")
    assert group.out_of_memory()


def test_processor_time_is_read_in_both_versions(tmp_path: Path) -> None:
    memory, cpu = tmp_path / "memory", tmp_path / "cpuacct"
    memory.mkdir()
    cpu.mkdir()
    group = ControlGroup([memory, cpu])
    assert group.cpu_seconds() == 0.0
    (cpu / "cpuacct.usage").write_text("1500000000\n")
    assert group.cpu_seconds() == 1.5
    (memory / "cpu.stat").write_text("usage_usec 2500000\nuser_usec 1\n")
    assert ControlGroup([memory]).cpu_seconds() == 2.5


def test_a_group_that_cannot_be_made_is_our_fault(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(BoxUnavailable, match="no control group could be made"):
        Groups([Tree(tmp_path / "file", lambda _: {})], "").make(SPEC)
