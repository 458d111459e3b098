"""Processes from /proc."""

from __future__ import annotations

import contextlib
import os
import signal
from pathlib import Path


def parents() -> dict[int, int]:
    """The parent of every living process, without zombies."""
    found = {}
    for path in Path("/proc").iterdir():
        if path.name.isdigit():
            with contextlib.suppress(OSError):
                words = (path / "stat").read_text().rpartition(")")[2].split()
                if words[0] not in "ZX":
                    found[int(path.name)] = int(words[1])
    return found


def children(pid: int) -> list[int]:
    return [child for child, parent in parents().items() if parent == pid]


def below(pid: int) -> list[int]:
    """Every process below ``pid``, nearest first."""
    tree = parents()
    found = [pid]
    for parent in found:
        found += [child for child, above in tree.items() if above == parent]
    return found[1:]


def words(pid: int) -> str:
    """Its command line; empty if it is gone."""
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    return ""


def send(pid: int, number: signal.Signals) -> bool:
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return False
    return True


def in_folder(folder: Path) -> dict[int, str]:
    """Processes with ``folder`` in their environment, command line or working folder."""
    name = str(folder).encode()
    found = {}
    for pid in parents():
        if pid == os.getpid():
            continue
        with contextlib.suppress(OSError):
            path = Path(f"/proc/{pid}")
            known = (path / "environ").read_bytes() + (path / "cmdline").read_bytes()
            if name in known or name in bytes((path / "cwd").readlink()):
                found[pid] = words(pid)
    return found
