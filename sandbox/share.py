"""How much of the processor a box gets where others want it, too. Alone on a core it gets all of it."""

from __future__ import annotations

import os
from enum import IntEnum


class Share(IntEnum):
    """Shares, against the 1024 that every other control group, and every process outside of one, has by default.

    ``YIELDING`` is for boxes that are judged on the host's own processor, which the web and the queue need as well:
    enough that a case which takes a second is not taken for an endless one beside a process that never rests.
    """

    BACKGROUND = 64
    YIELDING = 128
    FULL = 1024

    @property
    def weight(self) -> int:
        """The same in the measure of control groups version 2, where the default is 100."""
        return self * 100 // 1024

    @property
    def nice(self) -> int:
        """The same for a process that is in no group of its own, about: each step of niceness is a fifth less."""
        return {Share.BACKGROUND: 12, Share.YIELDING: 9, Share.FULL: 0}[self]


def take(share: Share) -> None:
    """Leave this process, and all that it starts from now on, no more than that share. What it has is never raised."""
    os.nice(max(0, share.nice - os.nice(0)))
