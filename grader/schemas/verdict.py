"""The table of verdicts: everything that differs from one verdict to the next, a row each.

``Verdict`` and ``CaseVerdict`` in ``grader.schemas.report`` are words of this table. A new verdict is a row here, the
place in ``grader.judge.faults`` that gives it, and its line in docs/verdicts.md.
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
    """Whose fault it is that a submission or case did not pass. ``NOBODY``: it passed. ``UNKNOWN``: it was not run."""

    NOBODY = "nobody"
    SUBMISSION = "submission"
    PLATFORM = "platform"
    UNKNOWN = "unknown"


class Tone(StrEnum):
    """A colour of pages and terminals: the CSS class of a badge, a notice or a status."""

    GOOD = "good"
    BAD = "bad"
    OURS = "ours"
    IDLE = "idle"
    BUSY = "busy"


@dataclass(frozen=True, kw_only=True)
class VerdictRow:
    """``word`` is what the database, JSON and metrics say. ``letter`` marks a case on a page, so that verdicts do not
    differ by colour alone. ``meaning`` and ``advice`` are a sentence each for a student; the advice is shown where the
    report names no case and no line to look at. ``clause`` says what a failing case does, after "it".
    ``of_submissions`` and ``of_cases``: what can end with it."""

    word: str
    title: str
    letter: str
    meaning: str
    advice: str
    clause: str = ""
    tone: Tone
    fault: Fault
    of_submissions: bool
    of_cases: bool

    def __post_init__(self) -> None:
        empty = [it.name for it in fields(self) if it.name != "clause" and getattr(self, it.name) == ""]
        if self.of_cases and self.fault is Fault.SUBMISSION and not self.clause:
            empty.append("clause")
        if empty:
            raise ValueError(f"verdict {self.word}: {', '.join(empty)} is missing")
        if not (self.of_submissions or self.of_cases):
            raise ValueError(f"verdict {self.word}: neither a submission nor a case can end with it")


# In the order in which lists and documents name them.
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
        meaning="It ran, and at least one output differs from the reference.",
        advice="Replay a failing case at home.",
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
        word="internal_error",
        title="Internal error",
        letter="I",
        meaning="We failed, not you: it is tried again and costs you nothing.",
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
        advice="Fix the cases that ended their process first.",
        tone=Tone.IDLE,
        fault=Fault.UNKNOWN,
        of_submissions=False,
        of_cases=True,
    ),
    VerdictRow(
        word="not_covered",
        title="Not covered",
        letter="?",
        meaning="Too large to be run here, and the part that can be run says nothing: it neither passed nor failed.",
        advice="Submit it to a board of a GPU, if there is one.",
        tone=Tone.IDLE,
        fault=Fault.UNKNOWN,
        of_submissions=False,
        of_cases=True,
    ),
)


def _by_word(rows: tuple[VerdictRow, ...]) -> dict[str, VerdictRow]:
    if len({it.word for it in rows}) < len(rows) or len({it.letter for it in rows}) < len(rows):
        raise ValueError("two verdicts have the same word or letter")
    return {it.word: it for it in rows}


# Tests add rows to this one; everyone else reads VERDICTS.
_table = _by_word(_ROWS)
VERDICTS = MappingProxyType(_table)


def ours() -> list[str]:
    """Words of the verdicts that are the platform's fault."""
    return [it.word for it in VERDICTS.values() if it.fault is Fault.PLATFORM]


_W = TypeVar("_W", bound="VerdictWord")


class _Words(type):
    """Lets ``list(Verdict)`` give its words in the table's order, as an enumeration would."""

    def __iter__(cls: type[_W]) -> Iterator[_W]:  # type: ignore[misc]
        return (cls(it.word) for it in VERDICTS.values() if cls.holds(it))


class VerdictWord(str, metaclass=_Words):
    """A word of the table, as a text of which there is one object: compare with ``is``. It behaves like a member of a
    StrEnum, but follows the table where that has a new row. ``Verdict("accepted")`` finds it; ValueError for others.
    """

    __slots__ = ()
    _made: ClassVar[dict[str, Any]]

    def __init_subclass__(cls) -> None:
        cls._made = {}
        # Declared names such as ACCEPTED; one without a row fails here, at import.
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
        """Whether the word of this row is one of the class."""
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
        """Whether it is the submission's fault."""
        return self.row.fault is Fault.SUBMISSION

    def __reduce__(self) -> tuple[type[Self], tuple[str]]:
        return type(self), (self.value,)

    @classmethod
    def __get_pydantic_core_schema__(
        cls, source: Any, handler: GetCoreSchemaHandler
    ) -> core_schema.CoreSchema:
        # The list is for JSON schemas and messages; what is not in it is looked up by calling the class.
        return core_schema.enum_schema(
            cls, list(cls), sub_type="str", ref=f"{cls.__module__}.{cls.__qualname__}"
        )
