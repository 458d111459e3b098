"""Names for completion, in files that a shell can read."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterable
from pathlib import Path

from grader.cli import config

CHALLENGES, SUBMISSIONS = "challenges", "submissions"
_MOST = {CHALLENGES: 1000, SUBMISSIONS: 50}
# Shells expand completions, so other names are left out.
_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")


def folder() -> Path:
    return Path(config.cache_folder())


def read(kind: str) -> list[str]:
    try:
        lines = (folder() / kind).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return []
    return [line for line in lines if _PLAIN.fullmatch(line)]


def keep(kind: str, names: Iterable[str]) -> None:
    """Never fails, even if the folder is not writable."""
    plain = [name for name in dict.fromkeys(names) if _PLAIN.fullmatch(name)][: _MOST[kind]]
    target = folder() / kind
    partial = target.with_name(f"{kind}.{os.getpid()}")
    with contextlib.suppress(OSError):
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        partial.write_text("".join(f"{name}\n" for name in plain), encoding="utf-8")
        partial.replace(target)


def add(kind: str, name: str) -> None:
    keep(kind, [name, *read(kind)])
