"""Challenges that differ from the default branch, by git."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable
from pathlib import Path

_GIT_SECONDS = 30.0
_FOLDERS = ("challenges", "reference")
_BRANCHES = ("origin/HEAD", "origin/main", "origin/master", "main", "master")


def changed_slugs(root: Path, slugs: Iterable[str]) -> list[str] | None:
    """Changes since this branch left the default one, committed or not; None if git cannot tell."""
    base = next((commit for name in _BRANCHES if (commit := _git(root, "merge-base", "HEAD", name))), None)
    if base is None:
        return None
    differing = _git(root, "diff", "--name-only", "--relative", base.strip(), "--", *_FOLDERS)
    fresh = _git(root, "ls-files", "--others", "--exclude-standard", "--", *_FOLDERS)
    if differing is None or fresh is None:
        return None
    touched = {Path(line).parts[1] for line in [*differing.splitlines(), *fresh.splitlines()] if "/" in line}
    return [slug for slug in slugs if slug in touched]


def _git(root: Path, *words: str) -> str | None:
    """None if git fails or is missing."""
    try:
        ran = subprocess.run(
            ["git", "-C", str(root), *words],
            capture_output=True,
            text=True,
            timeout=_GIT_SECONDS,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return ran.stdout if ran.returncode == 0 else None
