from __future__ import annotations

from datetime import date
from enum import StrEnum

from pydantic import Field, StrictFloat, StrictInt

from grader.schemas.strict import Strict


class Payer(StrEnum):
    """Whose GPU seconds a budget limits. A submission counts for its author, for the course whose assignment
    takes it, for its competition and for the token that sent it.
    """

    USER = "user"
    COURSE = "course"
    COMPETITION = "competition"
    TOKEN = "token"  # noqa: S105


_MOST_SECONDS = 1e9


class BudgetBody(Strict):
    """Body of PUT /api/v1/budgets/PAYER/NAME; both null: no budget of its own."""

    day_s: StrictFloat | StrictInt | None = Field(
        default=None, ge=0, le=_MOST_SECONDS, description="GPU seconds a day of UTC; null: no limit"
    )
    total_s: StrictFloat | StrictInt | None = Field(
        default=None, ge=0, le=_MOST_SECONDS, description="GPU seconds in all; null: no limit"
    )


class Budget(Strict):
    payer: Payer
    name: str = Field(description="of the user, course or competition; of a token, its number")
    day_s: float | None = Field(description="GPU seconds a day of UTC; null: no limit")
    total_s: float | None = Field(description="GPU seconds in all; null: no limit")
    spent_day_s: float = Field(description="GPU seconds since midnight UTC")
    spent_total_s: float


class BudgetList(Strict):
    budgets: list[Budget]


class GpuDay(Strict):
    day: date
    seconds: float


class GpuTime(Strict):
    """One person's GPU seconds: the time for which workers held GPUs for their submissions and runs."""

    budgets: list[Budget] = Field(description="that limit the next submission outside assignments")
    days: list[GpuDay] = Field(description="the last 30, oldest first; days without any are left out")
