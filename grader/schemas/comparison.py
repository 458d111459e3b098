"""An accepted kernel compared with another one."""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field

from grader.languages import Language
from grader.schemas.report import Interval, Sizes
from grader.schemas.side_by_side import SideBySide
from grader.schemas.strict import Strict


class Whose(StrEnum):
    STAFF = "staff"
    OTHERS = "others"
    OWN = "own"


class KernelChoice(Strict):
    """A kernel to compare with."""

    key: str = Field(description="a submission's id, or `staff-` and a language")
    whose: Whose
    label: str


class ComparedKernel(Strict):
    key: str
    name: str = Field(description="in a sentence, such as `your kernel`")
    language: Language
    filename: str
    source: str


class ComparedWorkload(Strict):
    """Times of a workload in microseconds per call, and counters of both."""

    name: str
    sizes: Sizes
    times_us: tuple[float | None, float | None] = Field(description="null if too short to measure")
    ci_us: tuple[Interval, Interval]
    counted: SideBySide | None = Field(default=None, description="null if counters cannot be compared")
    why: str = Field(default="", description="why not")


class KernelComparison(Strict):
    """Lists only what the caller may see."""

    mine: ComparedKernel
    other: ComparedKernel | None = Field(description="null if there is nothing to compare with")
    choices: list[KernelChoice]
    workloads: list[ComparedWorkload] = Field(
        description="those of both; empty if the other was not judged on this device"
    )
    commentary: str = Field(default="", description="staff's words on their solution, Markdown")
    closed: str = Field(
        default="", description="why others' kernels and staff's solution are closed; empty if they are not"
    )
