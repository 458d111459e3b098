"""Runs a command as an ordinary user, for tests that root runs: ``python ordinary.py WORDS...``, in a mount namespace
of its own (``unshare --mount``), where the folders of Python and of this checkout can be reached by everybody and
/tmp is its own: what an ordinary user leaves there, other tests would take for an attack's."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

USER = 65534
TEMPORARY = Path("/tmp")


def needed() -> list[Path]:
    """What the command must reach: the interpreter, its libraries, this checkout."""
    places = (sys.prefix, sys.base_prefix, str(Path(sys.executable).resolve().parent.parent))
    return [*map(Path, dict.fromkeys(places)), Path(__file__).resolve().parents[2]]


def open_ways() -> None:
    """Put an open folder over each that others may not pass, and over /tmp, and back into it what is needed of it."""
    closed = {it: "755" for path in needed() for it in path.parents if not it.stat().st_mode & 0o001}
    for folder, mode in sorted({**closed, TEMPORARY: "1777"}.items()):
        kept = {path: os.open(path, os.O_PATH) for path in needed() if path.is_relative_to(folder)}
        mount("-t", "tmpfs", "-o", f"mode={mode}", "tmpfs", str(folder))
        for path, hidden in kept.items():
            path.mkdir(parents=True, exist_ok=True)
            # The descriptor leads to what lies below the new folder; its name no longer does, so it stays as it is.
            mount("--no-canonicalize", "--bind", f"/proc/{os.getpid()}/fd/{hidden}", str(path))
            os.close(hidden)


def mount(*words: str) -> None:
    subprocess.run(["mount", *words], check=True)


def main() -> None:
    open_ways()
    home = tempfile.mkdtemp(dir=TEMPORARY)
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
