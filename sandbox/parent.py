"""Marks of owners, by which a dead parent's leftovers are recognised."""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
import time
from pathlib import Path

from grader.errors import BoxUnavailable


def _start_time(pid: int) -> str | None:
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return None
    return text.rpartition(")")[2].split()[19]


def boot_identity() -> str:
    return Path("/proc/sys/kernel/random/boot_id").read_text().strip()


def host_identity() -> str:
    """This boot and PID namespace: within them, number and start time name one process for ever."""
    return f"{boot_identity()}/{Path('/proc/self/ns/pid').readlink()}"


def platform_identity() -> str:
    """A hash, so it does not reveal the data folder."""
    base = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    folder = Path(os.environ.get("GRADER_DATA_DIR") or Path(base) / "grader").absolute()
    return hashlib.sha256(str(folder).encode()).hexdigest()[:16]


def seconds_since_boot() -> float:
    """A clock that nobody can set, and that runs during suspension."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


def own_mark() -> str:
    return f"{os.getpid()}:{_start_time(os.getpid())}"


def is_alive(mark: str) -> bool:
    """Only for marks made under the same ``host_identity``."""
    pid, _, started = mark.partition(":")
    return pid.isdigit() and _start_time(int(pid)) == started


def _prefix(kind: str) -> str:
    namespace = Path("/proc/self/ns/pid").stat().st_ino
    return f"grader-{kind}-{namespace}-"


def owned_name(kind: str) -> str:
    """No dash in ``kind``."""
    return f"{_prefix(kind)}{own_mark().replace(':', '-')}-"


def is_left_behind(kind: str, name: str) -> bool:
    """False for other names, and for processes that we cannot see."""
    prefix = _prefix(kind)
    if not name.startswith(prefix):
        return False
    pid, _, rest = name.removeprefix(prefix).partition("-")
    return not is_alive(f"{pid}:{rest.partition('-')[0]}")


def make_folder(kind: str) -> Path:
    """Private to this user and marked. Raises BoxUnavailable, for example on a full disk."""
    try:
        return Path(tempfile.mkdtemp(prefix=owned_name(kind)))
    except OSError as error:
        where = tempfile.gettempdir()
        raise BoxUnavailable(
            f"no folder can be made in {where}: {error.strerror}.",
            f"Make room in {where}, or set TMPDIR to another folder.",
        ) from error


def sweep_folders(kind: str) -> None:
    for folder in Path(tempfile.gettempdir()).glob(f"{_prefix(kind)}*"):
        try:
            ours = folder.lstat().st_uid == os.getuid()
        except OSError:
            continue
        if ours and is_left_behind(kind, folder.name):
            shutil.rmtree(folder, ignore_errors=True)
