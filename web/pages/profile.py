from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta

from flask import Blueprint, render_template

from grader.schemas.profile import Activity
from grader.service.boards.profile import profile
from grader.web.access import READERS, open_to
from grader.web.auth.identity import viewer
from grader.web.current import platform

pages = Blueprint("profile", __name__)

# Pixels: a square with its gap; room for names of days and months.
_STEP, LEFT, TOP = 13, 30, 18
# Submissions from which a day is darker.
_DARKER = (1, 2, 4, 7)


@dataclass(frozen=True)
class Square:
    """``shade`` 0 is empty, 1 to 4 are steps."""

    x: int
    y: int
    shade: int
    solved: bool
    label: str


@dataclass(frozen=True)
class Calendar:
    squares: list[Square]
    months: list[tuple[int, str]]
    width: int
    height: int


@pages.get("/users/<name>")
@open_to(READERS)
def show(name: str) -> str:
    """A user's activity, languages, solved challenges by track, ranks and badges."""
    found = profile(platform(), name, viewer())
    return render_template(
        "profile.html", profile=found, calendar=draw(found.activity) if found.activity else None
    )


def draw(activity: Activity) -> Calendar:
    """A column per week, a row per day."""
    by_day = {each.day: each for each in activity.days}
    squares, months = [], []
    for number in range((activity.end - activity.begin).days + 1):
        day = activity.begin + timedelta(days=number)
        x, y = LEFT + number // 7 * _STEP, TOP + number % 7 * _STEP
        if day.day == 1 and number // 7 < (activity.end - activity.begin).days // 7:
            months.append((x, day.strftime("%b")))
        counts = by_day.get(day)
        submitted, accepted = (counts.submitted, counts.accepted) if counts else (0, 0)
        shade = sum(submitted >= least for least in _DARKER)
        squares.append(Square(x, y, shade, accepted > 0, _label(day, submitted, accepted)))
    return Calendar(squares, months, squares[-1].x + _STEP, TOP + 7 * _STEP)


def _label(day: date, submitted: int, accepted: int) -> str:
    return f"{day.isoformat()}: {submitted} submitted, {accepted} accepted" if submitted else ""
