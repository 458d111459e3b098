"""A challenge as API, CLI and pages see it."""

from __future__ import annotations

from pydantic import Field

from grader.languages import Language
from grader.schemas.report import Sizes
from grader.schemas.strict import Strict


class ArgumentView(Strict):
    name: str
    kind: str
    dtype: str
    shape: list[str] = Field(default_factory=list)


class CaseView(Strict):
    name: str
    category: str
    sizes: Sizes
    inputs: dict[str, str] = Field(
        default_factory=dict, description="argument -> what it is filled with, in words"
    )
    note: str = ""
    on: str | None = Field(default=None, description="gpu: no other board runs it; none: every board does")


class WorkloadView(Strict):
    name: str
    sizes: Sizes
    on: str


class AllowedView(Strict):
    """Wrong answers that may pass where a workload is timed; ``workloads``: where, everywhere if empty."""

    names: list[str]
    workloads: list[str] = Field(default_factory=list)
    reason: str


class ChallengeSummary(Strict):
    slug: str
    title: str
    track: str
    prerequisites: list[str] = Field(
        default_factory=list, description="slugs of what it builds on: advice, nothing is locked"
    )
    difficulty: str
    tags: list[str]
    version: int
    languages: list[Language]


class TrackView(Strict):
    title: str
    description: str


class ChallengeList(Strict):
    challenges: list[ChallengeSummary]
    tracks: list[TrackView] = Field(
        default_factory=list, description="those that hold a challenge, in the order of the curriculum"
    )


class ChallengeDetail(ChallengeSummary):
    spec: str = Field(description="Markdown")
    signatures: dict[str, str] = Field(description="language -> declaration of solve")
    arguments: list[ArgumentView]
    starters: dict[str, str]
    cases: list[CaseView]
    hidden_cases: int
    hidden_categories_named: bool = Field(
        default=False, description="whether a report names the categories in which hidden cases failed"
    )
    library_kernels: str = Field(
        default="flag",
        description="what becomes of an accepted submission that calls a library's kernels: flag or unranked",
    )
    workloads: list[WorkloadView]
    approximations: list[AllowedView] = Field(
        default_factory=list, description="wrong answers that may pass where a workload is timed, and why"
    )
    reference: str
    tolerance: dict[str, float]
    limits: dict[str, float]
    board_version: int | None = Field(
        default=None, description="whose board is shown: an earlier one until staff publish the present"
    )
    served: list[Language] = Field(
        default_factory=list, description="languages that this server's devices can run"
    )
    judged_with: dict[str, str] = Field(
        default_factory=dict,
        description="versions of python, torch and triton that judged last here; before that, those of this machine",
    )

    @property
    def hidden_told(self) -> str:
        """What a student learns of hidden cases, a sentence."""
        more = ", and the categories in which others failed" if self.hidden_categories_named else ""
        return f"A report tells how many of them passed{more}."

    @property
    def library_told(self) -> str:
        """What it means to call a library's kernels here, a sentence."""
        if self.library_kernels == "unranked":
            return "An accepted submission that calls a library's kernels (such as torch.add) gets no rank."
        return "A submission that calls a library's kernels (such as torch.add) is flagged for staff."
