"""Processes of this host, from ``/proc``."""

from __future__ import annotations

import contextlib
import os
import signal
from pathlib import Path

_TICKS = os.sysconf("SC_CLK_TCK")


def kill(pid: int) -> bool:
    """Negative ``pid``: a group. False: we may not end it."""
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    except PermissionError:
        return False
    return True


def memory_bytes(pid: int) -> int:
    """Without pages of files; 0 if it is gone."""
    total = 0
    try:
        with open(f"/proc/{pid}/status", "rb") as file:  # noqa: PTH123 - twenty times a second
            for line in file:
                if line.startswith((b"RssAnon:", b"RssShmem:")):
                    total += int(line.split()[1]) * 1024
    except OSError:
        return 0
    return total


def cpu_seconds(pid: int) -> float:
    """With children that it has reaped; 0 if it is gone."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return sum(map(int, fields[11:15])) / _TICKS


def descendants(pid: int) -> list[int]:
    """Includes ``pid``."""
    found = [pid]
    for parent in found:
        try:
            for task in os.listdir(f"/proc/{parent}/task"):  # noqa: PTH208
                text = Path(f"/proc/{parent}/task/{task}/children").read_bytes()
                found += [int(word) for word in text.split()]
        except OSError:
            continue
    return found


def children(pid: int) -> list[int]:
    """Of the first thread: a supervisor has no other."""
    try:
        with open(f"/proc/{pid}/task/{pid}/children", "rb") as file:  # noqa: PTH123 - twenty times a second
            return [int(word) for word in file.read().split()]
    except OSError:
        return []


def members(session: int) -> list[int]:
    """Processes of a session, whoever their parents are."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
                found += [int(entry.name)] if int(fields[3]) == session else []
    return found


def is_alive(pid: int) -> bool:
    """True while it holds files, memory or a GPU. Not a zombie, unless a thread is still leaving the kernel."""
    with contextlib.suppress(OSError):
        for thread in Path(f"/proc/{pid}/task").iterdir():
            with contextlib.suppress(OSError):
                if (thread / "stat").read_text().rpartition(")")[2].split()[0] not in "ZX":
                    return True
    return False


def parent_of(pid: int) -> int | None:
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return None
