"""Runs a command as an ordinary user, for tests that root runs: ``python ordinary.py WORDS...``, in a mount namespace
of its own (``unshare --mount``), where the folders of Python and of this checkout can be reached by everybody."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

USER = 65534


def needed() -> list[Path]:
    """What the command must reach: the interpreter, its libraries, this checkout."""
    places = (sys.prefix, sys.base_prefix, str(Path(sys.executable).resolve().parent.parent))
    return [*map(Path, dict.fromkeys(places)), Path(__file__).resolve().parents[2]]


def open_ways() -> None:
    """Put an open folder over each that others may not pass, and back into it what is needed of it."""
    for closed in sorted({it for path in needed() for it in path.parents if not it.stat().st_mode & 0o001}):
        inside = [path for path in needed() if path.is_relative_to(closed)]
        kept = [(path, tempfile.mkdtemp()) for path in inside]
        for path, aside in kept:
            mount("--bind", str(path), aside)
        mount("-t", "tmpfs", "-o", "mode=755", "tmpfs", str(closed))
        for path, aside in kept:
            path.mkdir(parents=True, exist_ok=True)
            mount("--bind", aside, str(path))


def mount(*words: str) -> None:
    subprocess.run(["mount", *words], check=True)


def main() -> None:
    open_ways()
    home = tempfile.mkdtemp()
    os.chown(home, USER, USER)
    os.setgroups([])
    os.setresgid(USER, USER, USER)
    os.setresuid(USER, USER, USER)
    passed = {name: os.environ[name] for name in ("PATH", "LANG", "GRADER_REQUIRE") if name in os.environ}
    os.execvpe(
        sys.argv[1],
        sys.argv[1:],
        {**passed, "HOME": home, "TMPDIR": home, "PYTHONDONTWRITEBYTECODE": "1"},
    )


if __name__ == "__main__":
    main()
