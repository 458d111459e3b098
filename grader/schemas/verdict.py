"""The table of verdicts: one row per verdict with everything that differs between them.

A new verdict needs a row here, the place in ``grader.judge.faults`` that gives it, and its section in
docs/verdicts.md.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from enum import StrEnum
from types import MappingProxyType
from typing import Any, ClassVar, Self, TypeVar

from pydantic import GetCoreSchemaHandler
from pydantic_core import core_schema


class Fault(StrEnum):
    """The cause of a failure. ``NOBODY``: it passed. ``UNKNOWN``: it was not run."""

    NOBODY = "nobody"
    SUBMISSION = "submission"
    PLATFORM = "platform"
    UNKNOWN = "unknown"


class Tone(StrEnum):
    """A colour on pages and terminals: the CSS class of a badge, notice or status."""

    GOOD = "good"
    BAD = "bad"
    OURS = "ours"
    IDLE = "idle"
    BUSY = "busy"


@dataclass(frozen=True, kw_only=True)
class VerdictRow:
    # For the database, JSON and metrics.
    word: str
    title: str
    # Marks a case, so verdicts do not differ by colour alone.
    letter: str
    # For students.
    meaning: str
    # For students, if the report names no case and no line.
    advice: str
    # Follows "it" for a failing case.
    clause: str = ""
    tone: Tone
    fault: Fault
    # Submissions can end with it.
    of_submissions: bool
    # Cases can end with it.
    of_cases: bool

    def __post_init__(self) -> None:
        empty = [
            field.name for field in fields(self) if field.name != "clause" and getattr(self, field.name) == ""
        ]
        if self.of_cases and self.fault is Fault.SUBMISSION and not self.clause:
            empty.append("clause")
        if empty:
            raise ValueError(f"verdict {self.word}: {', '.join(empty)} is missing")
        if not (self.of_submissions or self.of_cases):
            raise ValueError(f"verdict {self.word}: neither a submission nor a case can end with it")


# In the order of lists and documents.
_ROWS = (
    VerdictRow(
        word="accepted",
        title="Accepted",
        letter="✓",
        meaning="Every case passed.",
        advice="Look at the times.",
        tone=Tone.GOOD,
        fault=Fault.NOBODY,
        of_submissions=True,
        of_cases=True,
    ),
    VerdictRow(
        word="wrong_answer",
        title="Wrong answer",
        letter="W",
        meaning="It ran, but at least one output differs from the reference.",
        advice="Replay a failing case on your machine.",
        clause="gives a wrong answer",
        tone=Tone.BAD,
        fault=Fault.SUBMISSION,
        of_submissions=True,
        of_cases=True,
    ),
    VerdictRow(
        word="compile_error",
        title="Compile error",
        letter="C",
        meaning="It could not be compiled or loaded.",
        advice="Read the first error of the log.",
        tone=Tone.BAD,
        fault=Fault.SUBMISSION,
        of_submissions=True,
        of_cases=False,
    ),
    VerdictRow(
        word="runtime_error",
        title="Runtime error",
        letter="R",
        meaning="It raised an error, crashed, or ended its process.",
        advice="Look for an index out of bounds or a launch with an empty grid.",
        clause="ends in an error",
        tone=Tone.BAD,
        fault=Fault.SUBMISSION,
        of_submissions=True,
        of_cases=True,
    ),
    VerdictRow(
        word="time_limit",
        title="Time limit",
        letter="T",
        meaning="A case did not end within its time limit.",
        advice="Look for a loop that does not end, a sleep, or threads that wait for each other.",
        clause="takes too long",
        tone=Tone.BAD,
        fault=Fault.SUBMISSION,
        of_submissions=True,
        of_cases=True,
    ),
    VerdictRow(
        word="memory_limit",
        title="Memory limit",
        letter="M",
        meaning="It asked for more memory than a submission may use.",
        advice="Allocate less, or free sooner.",
        clause="takes too much memory",
        tone=Tone.BAD,
        fault=Fault.SUBMISSION,
        of_submissions=True,
        of_cases=True,
    ),
    VerdictRow(
        word="output_limit",
        title="Output limit",
        letter="O",
        meaning="It printed more than a submission may print.",
        advice="Remove the prints.",
        clause="prints too much",
        tone=Tone.BAD,
        fault=Fault.SUBMISSION,
        of_submissions=True,
        of_cases=True,
    ),
    VerdictRow(
        word="broken_rule",
        title="Broken rule",
        letter="B",
        meaning="Its results are right, but its compiled code breaks a rule of the challenge.",
        advice="Read the rules of the challenge.",
        tone=Tone.BAD,
        fault=Fault.SUBMISSION,
        of_submissions=True,
        of_cases=False,
    ),
    VerdictRow(
        word="no_answer",
        title="No answer",
        letter="N",
        meaning="The reference has no right answer for the sizes and inputs that you chose, so nothing was judged.",
        advice="Choose other sizes or inputs.",
        tone=Tone.IDLE,
        fault=Fault.UNKNOWN,
        of_submissions=True,
        of_cases=False,
    ),
    VerdictRow(
        word="internal_error",
        title="Internal error",
        letter="I",
        meaning="The platform failed, not you: it is judged again and costs you nothing.",
        advice="There is nothing for you to fix.",
        tone=Tone.OURS,
        fault=Fault.PLATFORM,
        of_submissions=True,
        of_cases=False,
    ),
    VerdictRow(
        word="not_run",
        title="Not run",
        letter="–",
        meaning="Earlier cases used up the fresh boxes that a submission gets.",
        advice="First fix the cases that ended their process.",
        tone=Tone.IDLE,
        fault=Fault.UNKNOWN,
        of_submissions=False,
        of_cases=True,
    ),
    VerdictRow(
        word="not_covered",
        title="Not covered",
        letter="?",
        meaning="Too large to run here in full, and the part that can run says nothing: it neither passed nor failed.",
        advice="Submit it to the board of a GPU, if there is one.",
        tone=Tone.IDLE,
        fault=Fault.UNKNOWN,
        of_submissions=False,
        of_cases=True,
    ),
)


def _by_word(rows: tuple[VerdictRow, ...]) -> dict[str, VerdictRow]:
    if len({row.word for row in rows}) < len(rows) or len({row.letter for row in rows}) < len(rows):
        raise ValueError("two verdicts have the same word or letter")
    return {row.word: row for row in rows}


# Tests add rows to this one; everyone else reads VERDICTS.
_table = _by_word(_ROWS)
VERDICTS = MappingProxyType(_table)


def ours() -> list[str]:
    """Verdicts that are the platform's fault."""
    return [row.word for row in VERDICTS.values() if row.fault is Fault.PLATFORM]


_W = TypeVar("_W", bound="VerdictWord")


class _Words(type):
    """Makes ``list(Verdict)`` work, in the table's order."""

    # mypy: a metaclass may not require that its class is a VerdictWord.
    def __iter__(cls: type[_W]) -> Iterator[_W]:  # type: ignore[misc]
        return (cls(row.word) for row in VERDICTS.values() if cls.holds(row))


class VerdictWord(str, metaclass=_Words):
    """A word of the table; each exists once, so compare with ``is``. Like a member of a StrEnum, but rows may
    be added later. ``Verdict("accepted")`` finds it; other words raise ValueError.
    """

    __slots__ = ()
    _made: ClassVar[dict[str, Any]]

    def __init_subclass__(cls) -> None:
        cls._made = {}
        # A name without a row fails here, at import.
        for name in cls.__annotations__:
            setattr(cls, name, cls(name.lower()))

    def __new__(cls, word: str) -> Self:
        row = VERDICTS.get(word)
        if row is None or not cls.holds(row):
            raise ValueError(f"'{word}' is not a {cls.__name__}")
        if row.word not in cls._made:
            cls._made[row.word] = super().__new__(cls, row.word)
        made: Self = cls._made[row.word]
        return made

    @classmethod
    def holds(cls, row: VerdictRow) -> bool:
        """True if the word of this row belongs to the class."""
        raise NotImplementedError

    @property
    def value(self) -> str:
        """The plain text."""
        return str.__str__(self)

    @property
    def row(self) -> VerdictRow:
        return VERDICTS[self.value]

    @property
    def failed(self) -> bool:
        """By the submission's fault."""
        return self.row.fault is Fault.SUBMISSION

    def __reduce__(self) -> tuple[type[Self], tuple[str]]:
        return type(self), (self.value,)

    @classmethod
    def __get_pydantic_core_schema__(
        cls, source: Any, handler: GetCoreSchemaHandler
    ) -> core_schema.CoreSchema:
        # The list is for JSON schemas and messages; words outside it are looked up by calling the class.
        return core_schema.enum_schema(
            cls, list(cls), sub_type="str", ref=f"{cls.__module__}.{cls.__qualname__}"
        )
