"""Chapters and their exercises, as a reader sees them."""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field, StrictInt

from grader.schemas.strict import Strict


class ExerciseKind(StrEnum):
    KERNEL = "kernel"
    """A kernel with a hole, which is submitted to its challenge."""
    NUMBER = "number"
    """Predict a count of the emulated GPU."""
    LINE = "line"
    """Find a line of the source, such as one half of a race."""


class ExerciseView(Strict):
    """An exercise. The right answer is not in it before it was given."""

    name: str
    kind: ExerciseKind
    title: str
    text: str = Field(description="Markdown")
    source: str
    language: str
    challenge: str = Field(description="that judges a kernel, or whose call the question is about")
    sizes: dict[str, int]
    given: list[int] = Field(default_factory=list, description="answers so far")
    done: bool = Field(
        default=False, description="a right answer was given, or a kernel of the challenge accepted"
    )
    said: str = Field(default="", description="what the last answer shows; Markdown")


class ChapterSummary(Strict):
    slug: str
    title: str
    summary: str
    minutes: int = Field(description="to read it and do the exercises")
    done: int = Field(description="exercises")
    total: int


class ChapterView(ChapterSummary):
    text: str = Field(description="Markdown, with lines {drawing: NAME} and {exercise: NAME}")
    needs: list[str]
    exercises: list[ExerciseView]
    challenges: list[str] = Field(description="those that use its ideas")


class ExerciseAnswerBody(Strict):
    """An answer to a question of a chapter: a number, or a line of the source."""

    answer: StrictInt = Field(ge=0, le=1 << 62)
