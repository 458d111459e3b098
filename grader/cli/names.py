"""Names that were seen last, for completion: challenges and one's submissions, in files that a shell can read."""

from __future__ import annotations

import contextlib
import os
import re
import sys
from collections.abc import Iterable
from pathlib import Path

CHALLENGES, SUBMISSIONS = "challenges", "submissions"
# Completing from more than these helps nobody; ids are those of some weeks.
_MOST = {CHALLENGES: 1000, SUBMISSIONS: 50}
# Shells expand the words that they complete from, so nothing of theirs may be in one.
_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")


def folder() -> Path:
    """Where this system keeps what a program can make again; XDG_CACHE_HOME is heard on all of them."""
    if base := os.environ.get("XDG_CACHE_HOME"):
        return Path(base) / "grader"
    home = Path(os.path.expanduser("~"))  # noqa: PTH111 - Path.home raises where there is none
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA")
        return (Path(local) if local else home / "AppData" / "Local") / "grader" / "cache"
    if sys.platform == "darwin":
        return home / "Library" / "Caches" / "grader"
    return home / ".cache" / "grader"


def read(kind: str) -> list[str]:
    """The names seen last; none where nothing was kept or it cannot be read."""
    try:
        lines = (folder() / kind).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return []
    return [line for line in lines if _PLAIN.fullmatch(line)]


def keep(kind: str, names: Iterable[str]) -> None:
    """Keep these instead. A folder that cannot be written only means that nothing is completed."""
    plain = [name for name in dict.fromkeys(names) if _PLAIN.fullmatch(name)][: _MOST[kind]]
    target = folder() / kind
    partial = target.with_name(f"{kind}.{os.getpid()}")
    with contextlib.suppress(OSError):
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        partial.write_text("".join(f"{name}\n" for name in plain), encoding="utf-8")
        partial.replace(target)


def add(kind: str, name: str) -> None:
    """Put one ahead of the others."""
    keep(kind, [name, *read(kind)])
