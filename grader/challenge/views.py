"""A challenge as the server's API and pages and the local command line show it.

Nothing here runs ``reference.py``: only its text is read.
"""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from contextlib import suppress
from importlib import metadata

from grader.challenge import signature
from grader.challenge.cases import Case, Integers, Normal, PowersOfTwo, Recipe, Uniform
from grader.challenge.catalogue import Catalogue
from grader.challenge.expression import parse
from grader.challenge.loader import Challenge
from grader.challenge.model import Argument, Kind
from grader.languages import Language
from grader.schemas.challenge import (
    AllowedView,
    ArgumentView,
    CaseView,
    ChallengeDetail,
    ChallengeList,
    ChallengeSummary,
    TrackView,
    WorkloadView,
)


def summary(challenge: Challenge) -> ChallengeSummary:
    manifest = challenge.manifest
    return ChallengeSummary(
        slug=challenge.slug,
        title=manifest.title,
        track=manifest.track,
        prerequisites=manifest.prerequisites,
        difficulty=manifest.difficulty,
        tags=manifest.tags,
        version=manifest.version,
        languages=manifest.languages,
    )


def listing(catalogue: Catalogue, challenges: Sequence[Challenge]) -> ChallengeList:
    """``challenges`` in the given order, and the tracks that hold any of them."""
    used = {challenge.manifest.track for challenge in challenges}
    tracks = catalogue.known_curriculum.tracks if challenges else ()
    return ChallengeList(
        challenges=[summary(challenge) for challenge in challenges],
        tracks=[
            TrackView(title=track.title, description=track.description)
            for track in tracks
            if track.title in used
        ],
    )


def installed_versions() -> dict[str, str]:
    """Of Python, torch and Triton on this machine, if installed. Imports none of them."""
    found = {"python": platform.python_version()}
    for name in ("torch", "triton"):
        with suppress(metadata.PackageNotFoundError):
            found[name] = metadata.version(name)
    return found if "triton" in found else {}


def detail(
    challenge: Challenge, served: Sequence[Language] = (), judged_with: Mapping[str, str] | None = None
) -> ChallengeDetail:
    """Everything that a student may see. ``served``: languages that a server's devices run. ``judged_with``: versions
    used for judging, by default this machine's.

    Raises ChallengeInvalid.
    """
    manifest = challenge.manifest
    return ChallengeDetail(
        **summary(challenge).model_dump(),
        spec=challenge.spec,
        signatures={language: signature.declaration(manifest, language) for language in manifest.languages},
        arguments=[
            ArgumentView(name=arg.name, kind=arg.kind, dtype=arg.dtype, shape=list(arg.shape))
            for arg in manifest.args
        ],
        starters={language: challenge.starter(language) for language in manifest.languages},
        cases=[_case(challenge, case) for case in challenge.cases],
        hidden_cases=len(challenge.hidden_cases),
        hidden_categories_named=manifest.name_hidden_categories,
        library_kernels=manifest.library_kernels,
        workloads=[
            WorkloadView(name=workload.name, sizes=workload.sizes, on=workload.on)
            for workload in manifest.workloads
        ],
        approximations=[
            AllowedView(names=allowed.names, workloads=allowed.workloads, reason=allowed.reason)
            for allowed in manifest.approximations
        ],
        reference=challenge.reference_source,
        tolerance=manifest.tolerance.model_dump(),
        limits={name: float(value) for name, value in manifest.limits.model_dump().items()},
        served=list(served),
        judged_with=dict(judged_with or installed_versions()),
    )


def _case(challenge: Challenge, case: Case) -> CaseView:
    readable = [arg for arg in challenge.manifest.args if arg.kind in (Kind.INPUT, Kind.INOUT)]
    words = {arg.name: (case.inputs.get(arg.name) or _default(arg, case)).words() for arg in readable}
    words |= {name: f"{value:g}" for name, value in case.scalars.items()}
    return CaseView(
        name=case.name,
        category=case.category,
        sizes=dict(case.sizes),
        inputs=words,
        note=case.note,
        on=case.on,
    )


def _default(arg: Argument, case: Case) -> Recipe:
    """The recipe from ``challenge.toml`` at a case's sizes."""
    low, high = (
        parse(bound)(case.sizes) if isinstance(bound, str) else bound
        for bound in (arg.values.low, arg.values.high)
    )
    match arg.values.dist:
        case "normal":
            return Normal()
        case "uniform":
            return Uniform(low, high)
        case "integers":
            return Integers(int(low), int(high))
        case "powers":
            return PowersOfTwo(int(low), int(high))
