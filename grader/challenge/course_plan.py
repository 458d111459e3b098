"""Plans of courses in a catalogue (``challenges/courses/NAME.toml``): assignments by weeks from the first day."""

from __future__ import annotations

import tomllib
from datetime import date, timedelta
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from grader.errors import ChallengeInvalid, NotFound

FOLDER = "courses"
_DAYS_OF_A_WEEK = 7
_MOST_WEEKS = 60


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class PlannedPart(_Model):
    challenge: str
    weight: float = Field(default=1.0, gt=0, le=1000)


class PlannedAssignment(_Model):
    """Open from the first day of ``week`` for ``weeks`` weeks."""

    slug: str
    title: str
    week: int = Field(ge=1, le=_MOST_WEEKS)
    weeks: int = Field(default=1, ge=1, le=_MOST_WEEKS)
    parts: list[PlannedPart] = Field(min_length=1)

    def open_on(self, first_day: date) -> date:
        return first_day + timedelta(days=_DAYS_OF_A_WEEK * (self.week - 1))

    def due_on(self, first_day: date) -> date:
        return self.open_on(first_day) + timedelta(days=_DAYS_OF_A_WEEK * self.weeks - 1)


class CoursePlan(_Model):
    title: str
    assignments: list[PlannedAssignment] = Field(min_length=1)

    @model_validator(mode="after")
    def _slugs_differ(self) -> CoursePlan:
        slugs = [assignment.slug for assignment in self.assignments]
        if len(set(slugs)) != len(slugs):
            raise ValueError("two assignments have the same slug")
        return self


def plan_names(root: Path) -> list[str]:
    return sorted(path.stem for path in (root / "challenges" / FOLDER).glob("*.toml"))


def read_plan(root: Path, name: str) -> CoursePlan:
    """Raises NotFound, and ChallengeInvalid with file and key."""
    known = plan_names(root)
    if name not in known:
        raise NotFound(f"There is no plan '{name[:64]}'.", f"There are: {', '.join(known) or 'none'}.")
    path = root / "challenges" / FOLDER / f"{name}.toml"
    try:
        return CoursePlan.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ChallengeInvalid(f"{path}: not TOML: {error}") from error
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        key = ".".join(str(part) for part in first["loc"]) or "(the whole file)"
        raise ChallengeInvalid(f"{path}: {key}: {first['msg']}") from error
