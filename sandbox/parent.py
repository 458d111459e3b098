"""Who owns a box: a mark that names one process for ever, so that what a dead parent left behind can be recognised."""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
import time
from pathlib import Path

from grader.errors import BoxUnavailable


def _start_time(pid: int) -> str | None:
    """When a process started, in clock ticks since boot; None when there is no such process."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return None
    return text.rpartition(")")[2].split()[19]


def boot_identity() -> str:
    """Names this boot of this machine."""
    return Path("/proc/sys/kernel/random/boot_id").read_text().strip()


def host_identity() -> str:
    """Names this boot and this PID namespace: within it, a process number and start time name one process."""
    return f"{boot_identity()}/{Path('/proc/self/ns/pid').readlink()}"


def platform_identity() -> str:
    """Names the platform that this process belongs to, by its data folder, without telling where that is."""
    base = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    folder = Path(os.environ.get("GRADER_DATA_DIR") or Path(base) / "grader").absolute()
    return hashlib.sha256(str(folder).encode()).hexdigest()[:16]


def seconds_since_boot() -> float:
    """By the clock that nobody can set, and that goes on while the machine is suspended."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


def own_mark() -> str:
    return f"{os.getpid()}:{_start_time(os.getpid())}"


def is_alive(mark: str) -> bool:
    """Whether the process that ``mark`` names lives. Only for marks made under the same ``host_identity``."""
    pid, _, started = mark.partition(":")
    return pid.isdigit() and _start_time(int(pid)) == started


def _prefix(kind: str) -> str:
    namespace = Path("/proc/self/ns/pid").stat().st_ino
    return f"grader-{kind}-{namespace}-"


def owned_name(kind: str) -> str:
    """The beginning of a name that says whose a thing is; ``kind`` has no dash."""
    return f"{_prefix(kind)}{own_mark().replace(':', '-')}-"


def is_left_behind(kind: str, name: str) -> bool:
    """Whether ``name`` begins as ``owned_name`` made it for a process that is gone. False for names of other
    forms, and of processes that this one would not see."""
    prefix = _prefix(kind)
    if not name.startswith(prefix):
        return False
    pid, _, rest = name.removeprefix(prefix).partition("-")
    return not is_alive(f"{pid}:{rest.partition('-')[0]}")


def make_folder(kind: str) -> Path:
    """A fresh folder, readable by us alone, whose name says whose it is. Raises BoxUnavailable, on a full disk, say."""
    try:
        return Path(tempfile.mkdtemp(prefix=owned_name(kind)))
    except OSError as error:
        where = tempfile.gettempdir()
        raise BoxUnavailable(
            f"no folder can be made in {where}: {error.strerror}.",
            f"Make room in {where}, or name another by TMPDIR.",
        ) from error


def sweep_folders(kind: str) -> None:
    """Remove the folders of this kind that dead processes of ours left behind."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_prefix(kind)}*"):
        try:
            ours = folder.lstat().st_uid == os.getuid()
        except OSError:
            continue
        if ours and is_left_behind(kind, folder.name):
            shutil.rmtree(folder, ignore_errors=True)
