"""Tests that one process runs together (a group: a file, or a whole folder), and the order of groups.

Groups of ``ALONE`` run last, in one process, after the others ended.
"""

from __future__ import annotations

from pathlib import Path

# They share slow set-up, or use all processors: one process runs them all.
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
# They measure times on the processor, and repeat that until a time is known: on a busy host ten times as
# long.
ALONE = ("tests/hostile/test_timed_attacks.py",)


def group(nodeid: str) -> str:
    path = nodeid.partition("::")[0]
    folder = Path(path).parts[1]
    return folder if folder in FOLDERS_AS_ONE else path


def place(nodeid: str) -> int:
    name = group(nodeid)
    if name in FIRST:
        return FIRST.index(name)
    return len(FIRST) + (name in ALONE)
