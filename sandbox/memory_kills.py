"""Whether the kernel ended a box for want of memory, where the engine did not hear of it.

The engine learns of it from an event that can come after the container's end; on control groups version 2 it is then
lost. Nobody in a box can kill its first process, so a SIGKILL that is not ours came from the kernel or from the host's
administrator; the kernel counts its own.
"""

from __future__ import annotations

from pathlib import Path

_COUNTERS = Path("/proc/vmstat")


def memory_kills(counters: Path = _COUNTERS) -> int:
    """How many processes this host's kernel has ended for want of memory since it started; 0 where it does not say."""
    try:
        lines = counters.read_text().splitlines()
    except OSError:
        return 0
    found = (line.split() for line in lines)
    return next((int(words[1]) for words in found if words[:1] == ["oom_kill"]), 0)
