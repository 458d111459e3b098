from __future__ import annotations

from datetime import date, datetime

from pydantic import Field

from grader.languages import Language
from grader.schemas.report import Interval
from grader.schemas.strict import Strict


class PortfolioEntry(Strict):
    """An accepted submission with its latest judgement that counts."""

    submission: str
    challenge: str
    title: str = Field(description="the challenge's slug if you no longer see the challenge")
    version: int
    language: Language
    device: str
    representative: bool = Field(description="its times say something of a GPU")
    time_us: float | None = Field(description="per call; null if it could not be measured")
    ci_us: Interval | None = Field(description="95 % interval of the time")
    speedup: float | None = Field(description="over PyTorch")
    rank: int | None = Field(
        description="of this entry on its board now; null if another entry of yours ranks there, and if you may not "
        "see the rank"
    )
    entries: int | None = Field(description="on that board; null without a rank")
    competition: bool = Field(description="it was submitted to a competition, so it is on no other board")
    withdrawn: bool = Field(description="you took it off the boards")
    submitted_at: datetime
    note: str
    filename: str
    source: str


class Portfolio(Strict):
    """Your best accepted submission for each challenge, or those that you named; in the curriculum's order."""

    user: str
    at: date = Field(description="the day of its ranks, in UTC")
    entries: list[PortfolioEntry]
