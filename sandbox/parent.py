"""Who owns a box: a mark that names one process for ever, so that what a dead parent left behind can be told."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path


def _start_time(pid: int) -> str | None:
    """When a process started, in clock ticks since boot; None when there is no such process."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return None
    return text.rpartition(")")[2].split()[19]


def host_identity() -> str:
    """Names this boot and this PID namespace: within it, a process number and start time name one process."""
    boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    return f"{boot}/{Path('/proc/self/ns/pid').readlink()}"


def own_mark() -> str:
    return f"{os.getpid()}:{_start_time(os.getpid())}"


def is_alive(mark: str) -> bool:
    """Whether the process that ``mark`` names lives. Only for marks made under the same ``host_identity``."""
    pid, _, started = mark.partition(":")
    return pid.isdigit() and _start_time(int(pid)) == started


def _prefix(kind: str) -> str:
    namespace = Path("/proc/self/ns/pid").stat().st_ino
    return f"grader-{kind}-{namespace}-"


def make_folder(kind: str) -> Path:
    """A fresh folder, readable by us alone, whose name says whose it is."""
    return Path(tempfile.mkdtemp(prefix=f"{_prefix(kind)}{own_mark().replace(':', '-')}-"))


def sweep_folders(kind: str) -> None:
    """Remove the folders of this kind that dead processes of ours left behind."""
    prefix = _prefix(kind)
    for folder in Path(tempfile.gettempdir()).glob(f"{prefix}*"):
        pid, _, rest = folder.name.removeprefix(prefix).partition("-")
        started = rest.partition("-")[0]
        try:
            ours = folder.lstat().st_uid == os.getuid()
        except OSError:
            continue
        if ours and not is_alive(f"{pid}:{started}"):
            shutil.rmtree(folder, ignore_errors=True)
