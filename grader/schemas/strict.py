"""The base of all models, and types of data from outside.

Requests are not converted: in a body only ``true`` and ``false`` are booleans, and ``"1"`` is not a number.
So their models use ``StrictInt`` and ``StrictBool``, and ``Switch`` and ``Moment`` from here.
"""

from __future__ import annotations

from datetime import date, datetime
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, StrictBool


class Strict(BaseModel):
    """Unknown keys are errors, instances are immutable."""

    # Invalid input may be a source or a hidden case, and the error is logged.
    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)


def _true_or_false(value: object) -> object:
    if not isinstance(value, str):
        return value
    if value not in ("true", "false"):
        raise ValueError("write true or false")
    return value == "true"


def _moment(value: object) -> object:
    if isinstance(value, datetime):
        return value
    try:
        return datetime.fromisoformat(str(value))
    except ValueError:
        raise ValueError("write it like 2026-01-31T12:00:00Z") from None


def _day(value: object) -> object:
    if isinstance(value, date):
        return value
    try:
        return date.fromisoformat(value if isinstance(value, str) else "")
    except ValueError:
        raise ValueError("write it like 2026-01-31") from None


# For queries, where everything is text.
Switch = Annotated[StrictBool, BeforeValidator(_true_or_false)]
# Never a number, which might mean seconds or milliseconds.
Moment = Annotated[datetime, BeforeValidator(_moment)]
Day = Annotated[date, BeforeValidator(_day)]
