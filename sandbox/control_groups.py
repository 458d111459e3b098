"""Control groups for boxes without an engine: they bound a whole box's memory, processes and processor time.

An ordinary user needs a delegated part of version 2's tree: ``systemd-run --user --scope -p Delegate=yes
grader worker``.
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
# We move here: in version 2, a group whose children have limits holds no process.
MAIN = "grader-main"
KIND = "group"

PERIOD_US = 100_000
_KILL_COUNTERS = ("memory.events", "memory.oom_control")
# Above this share of its limit, a kill is the group's own fault.
_NEARLY = 0.95
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


# May be missing. Any other missing file means: no groups.
OPTIONAL = {"memory.memsw.limit_in_bytes", "memory.swap.max", "memory.oom.group", "cpu.max", "cpu.weight"}


@dataclass(frozen=True)
class Tree:
    base: Path
    files: Callable[[BoxSpec], Files]
    wanted: bool = True


class ControlGroup:
    def __init__(self, folders: list[Path]) -> None:
        self._folders = folders

    def add(self, pid: int) -> None:
        for folder in self._folders:
            _write(folder / "cgroup.procs", str(pid))

    def memory_kills(self) -> int:
        """Processes of the box that the kernel killed for lack of memory."""
        for name in _KILL_COUNTERS:
            with contextlib.suppress(OSError):
                lines = (self._folders[0] / name).read_text().splitlines()
                counts = (line.split() for line in lines)
                return next((int(words[1]) for words in counts if words[0] == "oom_kill"), 0)
        return 0

    def out_of_memory(self) -> bool:
        """False if the kernel killed because the host was out of memory."""
        if self.memory_kills() == 0:
            return False
        folder = self._folders[0]
        with contextlib.suppress(OSError):
            counts = (line.split() for line in (folder / "memory.events").read_text().splitlines())
            return any(words[0] == "oom" and int(words[1]) > 0 for words in counts)
        # Not every kernel with version 1 counts it.
        files = [folder / f"memory.{name}" for name in ("max_usage_in_bytes", "limit_in_bytes")]
        most = [int(text) for text in _texts(files)]
        return len(most) == 2 and most[0] >= _NEARLY * most[1]

    def cpu_seconds(self) -> float:
        """Includes ended processes; 0 if the kernel does not say."""
        for text in _texts(folder / "cpuacct.usage" for folder in self._folders):
            return int(text) * 1e-9
        for text in _texts(folder / "cpu.stat" for folder in self._folders):
            for line in text.splitlines():
                name, _, value = line.partition(" ")
                if name == "usage_usec":
                    return int(value) * 1e-6
        return 0.0

    def kill(self) -> bool:
        """Does not wait. False if there is nothing that we may kill."""
        if not self.is_populated():
            return False
        try:
            _write(self._folders[0] / "cgroup.kill", "1")
        except OSError:
            sent = [kill(pid) for pid in self._pids()]
            return any(sent)
        return True

    def is_populated(self) -> bool:
        """Counts processes that we cannot see. They leave once their memory, files and share of a GPU are
        free.
        """
        for text in _texts([self._folders[0] / "cgroup.events"]):
            return "populated 1" in text.splitlines()
        below = [Path(place) for folder in self._folders for place, _, _ in os.walk(folder)]
        return any(_texts(place / "cgroup.procs" for place in below))

    def wait_until_empty(self, seconds: float) -> bool:
        end = time.monotonic() + seconds
        while self.is_populated():
            if time.monotonic() > end:
                return False
            time.sleep(0.001)
        return True

    def kill_all(self) -> None:
        for folder in self._folders:
            with contextlib.suppress(OSError):  # no process may join a group that is being killed
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
        self.kill_all()
        end = time.monotonic() + _GONE_SECONDS
        while [folder for folder in self._folders if not _removed(folder)] and time.monotonic() < end:
            time.sleep(0.002)


class Groups:
    def __init__(self, trees: list[Tree], about: str) -> None:
        self._trees = trees
        self.about = about

    def make(self, spec: BoxSpec) -> ControlGroup:
        """Raises BoxUnavailable if the kernel refuses."""
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
        """Returns the number of removed groups."""
        names = {name for tree in self._trees for name in _left_behind(tree.base)}
        for name in names:
            ControlGroup([tree.base / name for tree in self._trees]).remove()
        return len(names)


def is_in(pid: int, name: str) -> bool:
    return any(name in path for _, path in _groups(pid))


def group_of(pid: int, name: str, root: Path = ROOT) -> ControlGroup | None:
    """None if invisible. Others set its limits."""
    # Version 2 names no controller.
    folders = {
        controller: root / controller / path.strip("/") for controller, path in _groups(pid) if name in path
    }
    first = [folders[controller] for controller in ("memory", "cpuacct") if controller in folders]
    for found in (first, [folders[""]] if "" in folders else []):
        group = ControlGroup(found)
        if found and all(folder.is_dir() for folder in found) and group.cpu_seconds() > 0:
            return group
    return None


def find_groups(root: Path = ROOT) -> Groups | None:
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
        # Most hosts link cpuacct to cpu's folder.
        if (root / "cpuacct").is_dir() and not (root / "cpuacct" / "cpu.shares").exists():
            trees.append(Tree(root / "cpuacct" / OURS, lambda _: {}))
        yield Groups(trees, "control groups 1")


def _given_to_us(root: Path) -> Path | None:
    """Our own group, or its parent if our processes have moved down."""
    own = next(
        (line[3:] for line in Path("/proc/self/cgroup").read_text().splitlines() if line[:3] == "0::"), ""
    )
    folder = root / own.strip("/")
    folder = folder.parent if folder.name == MAIN else folder
    return folder if folder != root and os.access(folder, os.W_OK) else None


def _with_controllers(base: Path) -> Path:
    """A refusal shows later, when a group is made."""
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
    (base / MAIN).mkdir(exist_ok=True)
    for pid in (base / "cgroup.procs").read_text().split():
        with contextlib.suppress(OSError):
            _write(base / MAIN / "cgroup.procs", pid)


def _set(folder: Path, files: Files) -> None:
    for name, value in files.items():
        if (folder / name).exists() or name not in OPTIONAL:
            _write(folder / name, value)


def _groups(pid: int) -> Iterator[tuple[str, str]]:
    for text in _texts([Path(f"/proc/{pid}/cgroup")]):
        for line in text.splitlines():
            _, controllers, path = line.split(":", 2)
            yield from ((controller, path) for controller in controllers.split(","))


def _texts(files: Iterable[Path]) -> Iterator[str]:
    for file in files:
        with contextlib.suppress(OSError):
            yield file.read_text()


def _write(path: Path, text: str) -> None:
    with path.open("r+") as file:  # never creates a file in a plain folder
        file.write(text)


def _removed(folder: Path) -> bool:
    try:
        folder.rmdir()
    except OSError as error:
        return error.errno != errno.EBUSY
    return True


def _left_behind(base: Path) -> list[str]:
    try:
        return [folder.name for folder in base.iterdir() if is_left_behind(KIND, folder.name)]
    except OSError:
        return []


# The engine's event about a memory kill can be lost on version 2. Nothing in a box can kill its first
# process, so a foreign SIGKILL came from the kernel or an administrator.
_VMSTAT = Path("/proc/vmstat")


def host_memory_kills(counters: Path = _VMSTAT) -> int:
    try:
        lines = counters.read_text().splitlines()
    except OSError:
        return 0
    found = (line.split() for line in lines)
    return next((int(words[1]) for words in found if words[:1] == ["oom_kill"]), 0)
