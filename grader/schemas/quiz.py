from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from pydantic import Field, StrictInt

from grader.schemas.strict import Strict

MOST_QUESTIONS = 3
# A second choice would often be right by luck.
NUMBER_ATTEMPTS, CHOICE_ATTEMPTS = 2, 1


class QuizKind(StrEnum):
    BLOCKS = "blocks"
    FIRST_WRITE = "first_write"
    ELEMENTS = "elements"
    ACTIVE = "active"
    SECTORS = "sectors"
    PASSES = "passes"
    BARRIER = "barrier"
    RACE = "race"


class QuizChoice(Strict):
    value: int
    text: str


class DrawnQuestion(Strict):
    """The answer leaves the server only once the question is settled."""

    kind: QuizKind
    setting: str = Field(description="the case and the sizes")
    text: str
    lines: list[int] = Field(
        default_factory=list, max_length=8, description="of the source, named in the text"
    )
    choices: list[QuizChoice] = Field(default_factory=list, max_length=8, description="empty: a number")
    answer: int = Field(ge=0, le=1 << 62)
    why: str = Field(description="what the engine saw")
    case: str
    sizes: dict[str, int]
    seed: int = Field(description="that drew it: with the case and the sizes, it is drawn again")

    @property
    def attempts(self) -> int:
        return CHOICE_ATTEMPTS if self.choices else NUMBER_ATTEMPTS


class QuizQuestion(Strict):
    """As its author and their staff read it."""

    number: int = Field(ge=1)
    kind: QuizKind
    text: str
    lines: list[int] = Field(description="of the source, named in the text")
    choices: list[QuizChoice] = Field(description="answer with the value of one; empty: answer with a number")
    attempts: int = Field(description="tries in all")
    left: int = Field(description="tries that are left")
    given: list[int] = Field(description="answers so far")
    right: bool | None = Field(description="null: not settled")
    answer: int | None = Field(default=None, description="the right one, once it is settled")
    why: str = Field(default="", description="what the engine saw, once it is settled")
    settled_at: datetime | None = None


class QuizView(Strict):
    """The questions on a submission."""

    submission: str
    setting: str = Field(default="", description="the case and the sizes that all questions are about")
    questions: list[QuizQuestion]
    right: int = Field(description="questions answered right")
    may_answer: bool = Field(description="true for the author, while the result counts")


class QuizAnswerBody(Strict):
    """Body of POST /api/v1/submissions/<id>/quiz/<number>."""

    answer: StrictInt = Field(ge=0, le=1 << 62, description="a number, or the value of a choice")
