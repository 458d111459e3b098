"""The emulated GPU: runs the PTX that real compilers make, warp by warp, on the host's processor.

``ptx`` parses, ``lower`` turns instructions into the rows that the C engine (``engine/``) executes, ``engine`` loads
and drives it, ``device`` is the GPU that a process of a box owns, ``host/`` the program of that process' client: a
student's host code. ``explain`` makes sentences of what was found. ``build.sh`` builds what is in C.

Imports nothing of the rest of the project: it runs inside boxes.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

_FOLDER = Path(__file__).resolve().parent
# What ``build.sh`` made here for this very processor; what the package brings, for every processor of its kind.
BUILT, PREBUILT = _FOLDER / "built", _FOLDER / "prebuilt"
# What to do where there is neither.
BUILD = (
    "Install a C compiler (Debian, Ubuntu: apt-get install gcc libc6-dev), then "
    f"`sh {_FOLDER / 'build.sh'}`; or install a wheel of Linux on x86-64 or aarch64."
)
# The prebuilt library for x86-64-v3: processors that have all of these.
_V3 = frozenset("avx avx2 bmi1 bmi2 f16c fma movbe abm".split())


def _processor_flags() -> set[str]:
    with suppress(OSError), Path("/proc/cpuinfo").open() as lines:
        for line in lines:
            if line.startswith("flags"):
                return set(line.split())
    return set()


def _files() -> tuple[Path, Path]:
    """The engine's library and the host program to use; those of ``build.sh`` where there are none."""
    own = BUILT / "libengine.so", BUILT / "host"
    prebuilt = PREBUILT / "libengine.so", PREBUILT / "host"
    if all(path.exists() for path in own) or not all(path.exists() for path in prebuilt):
        return own
    faster = PREBUILT / "libengine-v3.so"
    return (faster, prebuilt[1]) if faster.exists() and _processor_flags() >= _V3 else prebuilt


LIBRARY, HOST = _files()


def is_built() -> bool:
    return LIBRARY.exists() and HOST.exists()


def origin() -> str:
    """Where the engine in use comes from, in words."""
    if LIBRARY.parent == BUILT:
        return f"built here: {LIBRARY}"
    return f"prebuilt, in this package: {LIBRARY}"
