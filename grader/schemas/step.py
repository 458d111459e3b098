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


class StepBundle(Strict):
    """See ``sandbox/emulator/step.py``, which makes it."""

    version: int = 1
    data: str = Field(default="", max_length=limits.STEP_CHARS, description="gzip, in base64; empty: see why")
    why: str = Field(default="", description="why the block cannot be stepped through")
    lanes: list[StepLane] = Field(default_factory=list, max_length=32)

    @property
    def content(self) -> bytes:
        return base64.b64decode(self.data)
