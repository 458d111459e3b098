"""What a change of a challenge means, and for whom: shown before the button that does it."""

from __future__ import annotations

from pydantic import Field

from grader.schemas.strict import Strict


class AffectedAssignment(Strict):
    """An assignment with the challenge."""

    course: str
    assignment: str
    title: str
    phase: str = Field(description="draft, upcoming, open or over")
    students: int = Field(description="students who have handed in for it")


class AffectedBoard(Strict):
    """A board that is shown now."""

    device: str
    version: int
    entries: int


class Affected(Strict):
    """People and things that a change of a challenge affects."""

    audience: str = Field(description="who sees it after the change, as a sentence")
    assignments: list[AffectedAssignment]
    students: int = Field(description="people with submissions for it, without staff")
    boards: list[AffectedBoard] = Field(description="boards that are replaced by empty ones")
    points: list[str] = Field(description="what happens to points, as sentences")
