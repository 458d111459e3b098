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


class StepBundle(Strict):
    """See ``sandbox/emulator/step.py``, which makes it."""

    version: int = 1
    data: str = Field(default="", max_length=limits.STEP_CHARS, description="gzip, in base64; empty: see why")
    why: str = Field(default="", description="why the block cannot be stepped through")
    lanes: list[StepLane] = Field(default_factory=list, max_length=32)
    orders: Orders = Field(
        default_factory=list, description="of a race of two blocks: either one first, then the other"
    )
    word: str = Field(default="", max_length=200, description="the element that both access")

    @property
    def content(self) -> bytes:
        return base64.b64decode(self.data)
