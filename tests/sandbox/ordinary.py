"""Runs a command as an ordinary user, for tests that root runs: ``python ordinary.py WORDS...``, in a new
mount namespace (``unshare --mount``) in which everybody can reach the folders of Python and of this checkout.
/tmp is a new one too: other tests would take an ordinary user's leftovers for an attack's.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

USER = 65534
TEMPORARY = Path("/tmp")


def needed() -> list[Path]:
    """The command's interpreter, its libraries, and this checkout."""
    places = (sys.prefix, sys.base_prefix, str(Path(sys.executable).resolve().parent.parent))
    return [*map(Path, dict.fromkeys(places)), Path(__file__).resolve().parents[2]]


def open_ways() -> None:
    """Mount an open folder over each closed one and over /tmp, and bind the needed part into it again."""
    closed = {
        parent: "755" for path in needed() for parent in path.parents if not parent.stat().st_mode & 0o001
    }
    for folder, mode in sorted({**closed, TEMPORARY: "1777"}.items()):
        kept = {path: os.open(path, os.O_PATH) for path in needed() if path.is_relative_to(folder)}
        mount("-t", "tmpfs", "-o", f"mode={mode}", "tmpfs", str(folder))
        for path, hidden in kept.items():
            path.mkdir(parents=True, exist_ok=True)
            # The descriptor still leads to the contents below the new folder, so they stay as they are.
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
