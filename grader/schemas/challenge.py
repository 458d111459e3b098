"""A challenge as API, CLI and pages see it."""

from __future__ import annotations

from pydantic import Field

from grader.schemas.report import Language, Sizes
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


class WorkloadView(Strict):
    name: str
    sizes: Sizes
    on: str


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
    workloads: list[WorkloadView]
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
