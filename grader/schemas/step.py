"""A failing block that a page can step through."""

from __future__ import annotations

import base64

from pydantic import Field

from grader import limits
from grader.schemas.strict import Strict


class StepLane(Strict):
    """Where a lane reads or writes in the row that goes wrong."""

    thread: list[int] = Field(min_length=3, max_length=3, description="in its block, x y z")
    name: str = Field(max_length=100, description="of the memory")
    byte: int = Field(
        ge=-(1 << 62), le=1 << 62, description="from its beginning; -1 without memory: there is none"
    )


class StepLaunch(Strict):
    """A launch of the call, one of whose blocks may be recorded."""

    kernel: str = Field(max_length=200)
    grid: list[int] = Field(min_length=3, max_length=3, description="blocks x y z")
    threads: list[int] = Field(min_length=3, max_length=3, description="of a block, x y z")


class StepBundle(Strict):
    """See ``sandbox/emulator/step.py``, which makes it."""

    version: int = 1
    data: str = Field(default="", max_length=limits.STEP_CHARS, description="gzip, in base64; empty: see why")
    why: str = Field(default="", description="why the block cannot be stepped through")
    lanes: list[StepLane] = Field(default_factory=list, max_length=32)

    named: str = Field(
        default="",
        max_length=limits.STEP_CHARS,
        description="the same of the program with variables' names; empty: see named_why",
    )
    named_why: str = Field(default="", description="why there are no names, if they were asked for")
    launches: list[StepLaunch] = Field(
        default_factory=list, max_length=64, description="of the call, in order"
    )
    launch: int = Field(default=0, description="the recorded one, from 0")
    block: list[int] = Field(
        default_factory=lambda: [0, 0, 0], min_length=3, max_length=3, description="the recorded one, x y z"
    )

    @property
    def content(self) -> bytes:
        return base64.b64decode(self.data)

    @property
    def named_content(self) -> bytes:
        return base64.b64decode(self.named)
