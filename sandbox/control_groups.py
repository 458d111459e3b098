"""Control groups that we make ourselves, for boxes that no engine makes: the kernel then bounds the memory, processes
and processor time of everything in a box together.

Root makes them below the host's root, under either version. An ordinary user can where a part of version 2's tree was
given to them ("delegated"), as ``systemd-run --user --scope -p Delegate=yes grader worker`` does for a worker.
"""

from __future__ import annotations

import contextlib
import errno
import os
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from grader.errors import BoxUnavailable
from grader.sandbox.box import BoxPurpose, BoxSpec
from grader.sandbox.parent import is_left_behind, owned_name
from grader.sandbox.processes import kill

ROOT = Path("/sys/fs/cgroup")
OURS = "grader"
# Where our own processes go in a part that was given to us: a group whose children have limits holds no process itself.
MAIN = "grader-main"
KIND = "group"

PERIOD_US = 100_000
# Where a group counts its processes that the kernel killed for lack of memory: in version 2, and in version 1.
_KILL_COUNTERS = ("memory.events", "memory.oom_control")
# Of its limit, which a group that the kernel ended something of has used: pages are charged by the batch.
_NEARLY = 0.95
# A killed process leaves its group when the kernel has freed its memory.
_GONE_SECONDS = 10.0

Files = Mapping[str, str]


def _memory_1(spec: BoxSpec) -> Files:
    most = str(spec.memory_bytes)
    return {"memory.limit_in_bytes": most, "memory.memsw.limit_in_bytes": most}


def _pids(spec: BoxSpec) -> Files:
    return {"pids.max": str(spec.pids)}


def _cpu_1(spec: BoxSpec) -> Files:
    shares = {"cpu.shares": str(spec.share.value)}
    return {"cpu.cfs_period_us": str(PERIOD_US), "cpu.cfs_quota_us": str(_quota_us(spec)), **shares}


def _all_2(spec: BoxSpec) -> Files:
    weight = {"cpu.weight": str(spec.share.weight)}
    return {
        "memory.max": str(spec.memory_bytes),
        "memory.swap.max": "0",
        "memory.oom.group": "1",
        "cpu.max": f"{_quota_us(spec)} {PERIOD_US}",
        **weight,
        **_pids(spec),
    }


def _quota_us(spec: BoxSpec) -> int:
    return int(min(spec.cpus, os.cpu_count() or 1) * PERIOD_US)


# A kernel or a host may do without these; without any other there is no group.
OPTIONAL = {"memory.memsw.limit_in_bytes", "memory.swap.max", "memory.oom.group", "cpu.max", "cpu.weight"}


@dataclass(frozen=True)
class Tree:
    """One hierarchy: the folder in which boxes get groups, and what is written into such a group."""

    base: Path
    files: Callable[[BoxSpec], Files]
    wanted: bool = True


class ControlGroup:
    """The control group of one box: a folder in each tree. The first one counts memory."""

    def __init__(self, folders: list[Path]) -> None:
        self._folders = folders

    def add(self, pid: int) -> None:
        """Raises OSError where the process may not be moved."""
        for folder in self._folders:
            _write(folder / "cgroup.procs", str(pid))

    def memory_kills(self) -> int:
        """Number of the box's processes that the kernel killed for lack of memory."""
        for name in _KILL_COUNTERS:
            with contextlib.suppress(OSError):
                lines = (self._folders[0] / name).read_text().splitlines()
                counts = (line.split() for line in lines)
                return next((int(words[1]) for words in counts if words[0] == "oom_kill"), 0)
        return 0

    def out_of_memory(self) -> bool:
        """Whether the kernel ended one of its processes because the group had used all that it may. It also ends one
        where the host runs out of memory, and that is not the group's doing."""
        if self.memory_kills() == 0:
            return False
        folder = self._folders[0]
        with contextlib.suppress(OSError):
            counts = (line.split() for line in (folder / "memory.events").read_text().splitlines())
            return any(words[0] == "oom" and int(words[1]) > 0 for words in counts)
        # Version 1, where not every kernel counts how often the limit was met. Pages are charged by the batch.
        most = [
            int(it)
            for it in _texts(folder / f"memory.{name}" for name in ("max_usage_in_bytes", "limit_in_bytes"))
        ]
        return len(most) == 2 and most[0] >= _NEARLY * most[1]

    def cpu_seconds(self) -> float:
        """Processor time that its processes have used, also those that are gone; 0 where the kernel does not say."""
        for text in _texts(folder / "cpuacct.usage" for folder in self._folders):
            return int(text) * 1e-9
        for text in _texts(folder / "cpu.stat" for folder in self._folders):
            for line in text.splitlines():
                name, _, value = line.partition(" ")
                if name == "usage_usec":
                    return int(value) * 1e-6
        return 0.0

    def kill(self) -> bool:
        """Send SIGKILL to every process in it, without waiting. False: there is none, or none that we may end."""
        if not self.is_populated():
            return False
        try:
            _write(self._folders[0] / "cgroup.kill", "1")
        except OSError:  # version 1, kernels before 5.14, or it is not ours to write
            sent = [kill(pid) for pid in self._pids()]
            return any(sent)
        return True

    def is_populated(self) -> bool:
        """Whether a process is in it or in a group below it, also one that we cannot see. A process leaves when it has
        given back its memory and closed its files, so what it held of a GPU is free then."""
        for text in _texts([self._folders[0] / "cgroup.events"]):
            return "populated 1" in text.splitlines()
        below = [Path(place) for folder in self._folders for place, _, _ in os.walk(folder)]
        return any(_texts(place / "cgroup.procs" for place in below))

    def wait_until_empty(self, seconds: float) -> bool:
        """Whether no process is left in it within so long."""
        end = time.monotonic() + seconds
        while self.is_populated():
            if time.monotonic() > end:
                return False
            time.sleep(0.001)
        return True

    def kill_all(self) -> None:
        """End every process in it and wait until they are gone."""
        for folder in self._folders:
            with contextlib.suppress(OSError):  # nothing may be added to what is being killed
                _write(folder / "pids.max", "0")
        end = time.monotonic() + _GONE_SECONDS
        while self.kill() and time.monotonic() < end:
            time.sleep(0.002)

    def _pids(self) -> list[int]:
        found = []
        for folder in self._folders:
            with contextlib.suppress(OSError):
                found += [int(word) for word in (folder / "cgroup.procs").read_text().split()]
        return [pid for pid in found if pid]

    def remove(self) -> None:
        """End what is in it, and take it away. What stays for some reason is swept later."""
        self.kill_all()
        end = time.monotonic() + _GONE_SECONDS
        while [folder for folder in self._folders if not _removed(folder)] and time.monotonic() < end:
            time.sleep(0.002)


class Groups:
    """Makes groups in ``trees``. ``about``: for reports."""

    def __init__(self, trees: list[Tree], about: str) -> None:
        self._trees = trees
        self.about = about

    def make(self, spec: BoxSpec) -> ControlGroup:
        """A group with the limits of ``spec``. Raises BoxUnavailable where the kernel refuses one."""
        name = f"{owned_name(KIND)}{uuid.uuid4().hex[:12]}"
        made = ControlGroup([tree.base / name for tree in self._trees])
        try:
            for tree in self._trees:
                (tree.base / name).mkdir(parents=True)
                _set(tree.base / name, tree.files(spec))
        except OSError as error:
            made.remove()
            raise BoxUnavailable(f"no control group could be made: {error}") from error
        return made

    def sweep(self) -> int:
        """Kill and remove what dead processes left behind; returns how many groups."""
        names = {name for tree in self._trees for name in _left_behind(tree.base)}
        for name in names:
            ControlGroup([tree.base / name for tree in self._trees]).remove()
        return len(names)


def is_in(pid: int, name: str) -> bool:
    """Whether process ``pid``, as this process numbers it, is in a group that has ``name`` in its path."""
    return any(name in path for _, path in _groups(pid))


def group_of(pid: int, name: str, root: Path = ROOT) -> ControlGroup | None:
    """The group that process ``pid`` is in, where this process sees it and ``name`` is part of its path. It counts
    memory and processor time; its limits are somebody else's."""
    # Version 2 names no controller: its group lies below the root itself.
    folders = {it: root / it / path.strip("/") for it, path in _groups(pid) if name in path}
    first = [folders[it] for it in ("memory", "cpuacct") if it in folders]
    for found in (first, [folders[""]] if "" in folders else []):
        group = ControlGroup(found)
        if found and all(it.is_dir() for it in found) and group.cpu_seconds() > 0:
            return group
    return None


def find_groups(root: Path = ROOT) -> Groups | None:
    """What this process can bound boxes with, tried out; None where it can make no control groups."""
    for candidate in _candidates(root):
        try:
            candidate.make(BoxSpec(BoxPurpose.RUN)).remove()
        except BoxUnavailable:
            continue
        return candidate
    return None


def _candidates(root: Path) -> Iterator[Groups]:
    if (root / "cgroup.controllers").exists():
        base = root / OURS if os.geteuid() == 0 else _given_to_us(root)
        if base is not None:
            yield Groups([Tree(_with_controllers(base), _all_2)], "control groups 2")
    elif (root / "memory").is_dir() and (root / "pids").is_dir():
        trees = [Tree(root / "memory" / OURS, _memory_1), Tree(root / "pids" / OURS, _pids)]
        if (root / "cpu" / "cpu.cfs_quota_us").exists() or (root / "cpu" / "cpu.shares").exists():
            trees.append(Tree(root / "cpu" / OURS, _cpu_1))
        # Most hosts count in the folder that also bounds, and have it under both names.
        if (root / "cpuacct").is_dir() and not (root / "cpuacct" / "cpu.shares").exists():
            trees.append(Tree(root / "cpuacct" / OURS, lambda _: {}))
        yield Groups(trees, "control groups 1")


def _given_to_us(root: Path) -> Path | None:
    """The group that we may make others in: our own, or the one above where our processes were moved down already."""
    own = next(
        (line[3:] for line in Path("/proc/self/cgroup").read_text().splitlines() if line[:3] == "0::"), ""
    )
    folder = root / own.strip("/")
    folder = folder.parent if folder.name == MAIN else folder
    return folder if folder != root and os.access(folder, os.W_OK) else None


def _with_controllers(base: Path) -> Path:
    """``base``, whose children may have limits. Does nothing where that is refused: making a group then fails."""
    with contextlib.suppress(OSError):
        if base.name == OURS:
            base.mkdir(exist_ok=True)
            _enable(base.parent)
        else:
            _move_down(base)
        _enable(base)
    return base


def _enable(folder: Path) -> None:
    there = (folder / "cgroup.controllers").read_text().split()
    for name in ("memory", "pids", "cpu"):
        if name in there:
            _write(folder / "cgroup.subtree_control", f"+{name}")


def _move_down(base: Path) -> None:
    """Our own processes make room: a group with processes in it cannot have children with limits."""
    (base / MAIN).mkdir(exist_ok=True)
    for pid in (base / "cgroup.procs").read_text().split():
        with contextlib.suppress(OSError):  # it ended meanwhile
            _write(base / MAIN / "cgroup.procs", pid)


def _set(folder: Path, files: Files) -> None:
    for name, value in files.items():
        if (folder / name).exists() or name not in OPTIONAL:
            _write(folder / name, value)


def _groups(pid: int) -> Iterator[tuple[str, str]]:
    """Controllers, and the path of the group that ``pid`` is in for each; nothing where it is gone."""
    for text in _texts([Path(f"/proc/{pid}/cgroup")]):
        for line in text.splitlines():
            _, controllers, path = line.split(":", 2)
            yield from ((it, path) for it in controllers.split(","))


def _texts(files: Iterable[Path]) -> Iterator[str]:
    """What those of the files say that can be read."""
    for file in files:
        with contextlib.suppress(OSError):
            yield file.read_text()


def _write(path: Path, text: str) -> None:
    with path.open(
        "r+"
    ) as file:  # never makes a file: not even where a folder only looks like a control group
        file.write(text)


def _removed(folder: Path) -> bool:
    try:
        folder.rmdir()
    except OSError as error:
        return error.errno != errno.EBUSY  # anything else does not change by waiting
    return True


def _left_behind(base: Path) -> list[str]:
    try:
        return [folder.name for folder in base.iterdir() if is_left_behind(KIND, folder.name)]
    except OSError:
        return []


# The engine learns that the kernel killed a box for memory from an event, which can come after the container has ended;
# on control groups version 2 it is then lost. Nobody in a box can kill its first process, so a SIGKILL that is not ours
# came from the kernel or from the host's administrator. The kernel counts its own.
_VMSTAT = Path("/proc/vmstat")


def host_memory_kills(counters: Path = _VMSTAT) -> int:
    """Number of processes that this host's kernel has killed for lack of memory since boot; 0 where it does not say."""
    try:
        lines = counters.read_text().splitlines()
    except OSError:
        return 0
    found = (line.split() for line in lines)
    return next((int(words[1]) for words in found if words[:1] == ["oom_kill"]), 0)
