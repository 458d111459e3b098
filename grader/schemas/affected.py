"""The effects of a change of a challenge, shown before it is made."""

from __future__ import annotations

from pydantic import Field

from grader.schemas.strict import Strict


class AffectedAssignment(Strict):
    course: str
    assignment: str
    title: str
    phase: str = Field(description="draft, upcoming, open or over")
    students: int = Field(description="students who have handed in for it")


class AffectedBoard(Strict):
    """A shown board."""

    device: str
    version: int
    entries: int


class Affected(Strict):
    audience: str = Field(description="who sees it after the change, as a sentence")
    assignments: list[AffectedAssignment]
    students: int = Field(description="people with submissions for it, without staff")
    boards: list[AffectedBoard] = Field(description="boards that are replaced by empty ones")
    points: list[str] = Field(description="what happens to points, as sentences")
