"""The emulated GPU: runs the PTX that real compilers make, warp by warp, on the host's processor.

``ptx`` parses, ``lower`` turns instructions into the rows that the C engine (``engine/``) executes, ``engine`` loads
and drives it, ``device`` is the GPU that a process of a box owns, ``host/`` the program of that process' client: a
student's host code. ``explain`` makes sentences of what was found. ``build.sh`` builds what is in C.

Imports nothing of the rest of the project: it runs inside boxes.
"""

from __future__ import annotations

from pathlib import Path

# What ``build.sh`` makes.
BUILT = Path(__file__).resolve().parent / "built"
LIBRARY, HOST = BUILT / "libengine.so", BUILT / "host"


def is_built() -> bool:
    return LIBRARY.exists() and HOST.exists()
