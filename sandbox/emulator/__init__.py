"""The emulated GPU: runs real compilers' PTX, warp by warp, on the host's processor.

``ptx`` parses, ``lower`` makes rows for the C engine (``engine/``), ``engine`` drives it, ``device`` is the
GPU of a process in a box, ``host/`` runs a student's host code as its client.

Imports nothing from the rest of the project, because it runs inside boxes.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

_FOLDER = Path(__file__).resolve().parent
# Built for this processor by ``build.sh``; or shipped for every processor of its kind.
BUILT, PREBUILT = _FOLDER / "built", _FOLDER / "prebuilt"
BUILD = (
    "Install a C compiler (Debian, Ubuntu: apt-get install gcc libc6-dev), then "
    f"`sh {_FOLDER / 'build.sh'}`; or install the Linux wheel for x86-64 or aarch64."
)
# Processor flags that x86-64-v3 needs.
_V3 = frozenset("avx avx2 bmi1 bmi2 f16c fma movbe abm".split())


def _processor_flags() -> set[str]:
    with suppress(OSError), Path("/proc/cpuinfo").open() as lines:
        for line in lines:
            if line.startswith("flags"):
                return set(line.split())
    return set()


def _files() -> tuple[Path, Path]:
    """The engine's library and host program; paths of ``build.sh`` if there are none."""
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
    if LIBRARY.parent == BUILT:
        return f"built here: {LIBRARY}"
    return f"prebuilt, in this package: {LIBRARY}"
