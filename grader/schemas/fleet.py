from __future__ import annotations

from datetime import datetime

from pydantic import Field

from grader.schemas.strict import Strict


class PoolView(Strict):
    """Pilots of one device: workers that `grader fleet run` launches while work waits."""

    name: str
    device: str
    controlled: bool = Field(description="a controller decides about it now")
    controller: str = Field(description="host and process that decides, or did last")
    decided_at: datetime | None = None
    waiting: int = Field(description="submissions, at the last decision")
    wanted: int = Field(description="pilots")
    pending: int = Field(description="launched and not running yet")
    running: int
    spent: float = Field(description="cost of today, UTC, in the unit of `cost_per_hour`")
    note: str = Field(default="", description="what keeps it from launching more")


class FleetView(Strict):
    pools: list[PoolView]
