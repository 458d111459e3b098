"""Which tests one process runs together (a group: a file, or a whole folder), and in which order groups begin.

Groups of ``ALONE`` run last, in one process, after the others ended.
"""

from __future__ import annotations

from pathlib import Path

# Their tests share what takes long to make, or use all processors: one process runs them all.
FOLDERS_AS_ONE = ("images", "browser", "faults", "topology")
# The longest begin first, so that no process is left with one at the end.
FIRST = (
    *FOLDERS_AS_ONE,
    "tests/hostile/test_of_boxes.py",
    "tests/hostile/test_attacks.py",
    "tests/emulator/test_challenges.py",
    "tests/hostile/test_in_docker.py",
    "tests/sandbox/test_nvcc.py",
    "tests/judge/test_emulated.py",
    "tests/web/security/test_fuzz.py",
)
# They measure times on the processor, and repeat that until a time is known: on a busy host ten times as long.
ALONE = ("tests/hostile/test_timed_attacks.py",)


def group(nodeid: str) -> str:
    """The group of a test: its file, or one of ``FOLDERS_AS_ONE``."""
    path = nodeid.partition("::")[0]
    folder = Path(path).parts[1]
    return folder if folder in FOLDERS_AS_ONE else path


def place(nodeid: str) -> int:
    """Sort key of a test: groups of ``FIRST``, all others, groups of ``ALONE``."""
    name = group(nodeid)
    if name in FIRST:
        return FIRST.index(name)
    return len(FIRST) + (name in ALONE)
