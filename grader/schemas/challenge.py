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
    optional: bool = Field(default=False, description="a case or a workload may leave it out")
    strides: list[str] = Field(default_factory=list, description="in elements; empty: dense and row-major")
    valid: list[str] = Field(
        default_factory=list, description="of a result: the extent that counts, of the first dimensions"
    )
    value: int | float | None = Field(default=None, description="a scalar's, in workloads and by default")
    allowed: str = Field(
        default="", description="of a result that has its own tolerance: by how much it may be off"
    )
    on: str = Field(default="", description="of several GPUs: each, or the number of the one that has it")


class CaseView(Strict):
    name: str
    category: str
    sizes: Sizes
    inputs: dict[str, str] = Field(default_factory=dict, description="argument -> description of its values")
    note: str = ""
    on: str | None = Field(default=None, description="gpu: only GPU boards run it; null: every board does")


class WorkloadView(Strict):
    name: str
    sizes: Sizes
    on: str
    scalars: dict[str, int | float] = Field(
        default_factory=dict, description="values that differ from the arguments'"
    )
    without: list[str] = Field(default_factory=list, description="optional inputs that it leaves out")


class AllowedView(Strict):
    """Wrong answers that may pass in timed workloads."""

    names: list[str]
    workloads: list[str] = Field(default_factory=list, description="the workloads; empty: all of them")
    reason: str


class ChallengeSummary(Strict):
    slug: str
    title: str
    track: str
    prerequisites: list[str] = Field(
        default_factory=list, description="slugs of challenges to do first; only advice, nothing is locked"
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
        default_factory=list, description="tracks that hold a challenge, in the curriculum's order"
    )


class ChallengeDetail(ChallengeSummary):
    spec: str = Field(description="Markdown; a line `{drawing: NAME}` is the place of a drawing")
    drawings: dict[str, str] = Field(default_factory=dict, description="name -> SVG")
    signatures: dict[str, str] = Field(description="language -> declaration of solve")
    arguments: list[ArgumentView]
    starters: dict[str, str]
    cases: list[CaseView]
    hidden_cases: int
    hidden_categories_named: bool = Field(
        default=False, description="reports name the categories of failed hidden cases"
    )
    library_kernels: str = Field(
        default="flag",
        description="the consequence for an accepted submission that calls a library's kernels: flag or unranked",
    )
    workloads: list[WorkloadView]
    approximations: list[AllowedView] = Field(
        default_factory=list, description="wrong answers that may pass in timed workloads, and why"
    )
    constraints: list[str] = Field(
        default_factory=list, description="conditions that the sizes of every call fulfil"
    )
    reference: str
    tolerance: dict[str, float]
    rules: list[str] = Field(
        default_factory=list, description="what the compiled code must do, and must not do: a sentence each"
    )
    limits: dict[str, float]
    board_version: int | None = Field(
        default=None,
        description="the version whose board is shown; older than `version` until staff publish that",
    )
    served: list[Language] = Field(
        default_factory=list, description="languages that this server's devices can run"
    )
    judged_with: dict[str, str] = Field(
        default_factory=dict,
        description="versions of python, torch and triton of the last judge; this machine's if nothing was judged yet",
    )

    @property
    def hidden_told(self) -> str:
        more = " and the categories of those that failed" if self.hidden_categories_named else ""
        return f"A report shows how many of them passed{more}."

    @property
    def library_told(self) -> str:
        if self.library_kernels == "unranked":
            return "An accepted submission that calls a library's kernels (such as torch.add) gets no rank."
        return "A submission that calls a library's kernels (such as torch.add) is flagged for staff."
