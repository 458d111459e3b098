"""A failing block that a page can step through."""

from __future__ import annotations

import base64
from typing import Annotated

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


class StepAccess(Strict):
    """One of two accesses that race. Bytes are in hexadecimal, in the order of memory."""

    block: list[int] = Field(min_length=3, max_length=3, description="x y z")
    thread: list[int] = Field(min_length=3, max_length=3, description="in its block, x y z")
    line: int = Field(ge=0, description="of the source; 0: unknown")
    reads: bool
    writes: bool
    row: int = Field(ge=0, description="instructions of both blocks before it")
    before: str = Field(default="", max_length=64, pattern=r"^[0-9a-f]*$", description="the word before it")
    after: str = Field(default="", max_length=64, pattern=r"^[0-9a-f]*$", description="the word after it")


#: For each order of two blocks, the first one's access and the second one's.
Orders = Annotated[list[Annotated[list[StepAccess], Field(min_length=2, max_length=2)]], Field(max_length=2)]


class StepLaunch(Strict):
    """A launch, one of whose blocks may be recorded."""

    kernel: str = Field(max_length=200)
    grid: list[int] = Field(min_length=3, max_length=3, description="blocks x y z")
    threads: list[int] = Field(min_length=3, max_length=3, description="of a block, x y z")


class StepBundle(Strict):
    """Made by ``sandbox/emulator/stepping/recorder.py``."""

    version: int = 1
    data: str = Field(default="", max_length=limits.STEP_CHARS, description="gzip, in base64; empty: see why")
    why: str = Field(default="", description="why the block cannot be stepped through")
    lanes: list[StepLane] = Field(default_factory=list, max_length=32)
    orders: Orders = Field(
        default_factory=list, description="of a race of two blocks: either one first, then the other"
    )
    word: str = Field(default="", max_length=200, description="the element that both access")

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
