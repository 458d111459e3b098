"""A challenge for API, pages and command line. Only reads ``reference.py``."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from contextlib import suppress
from importlib import metadata

from grader.challenge import signature
from grader.challenge.cases import Case
from grader.challenge.catalogue import Catalogue
from grader.challenge.draw import filling_of
from grader.challenge.loader import Challenge
from grader.challenge.model import Argument, Manifest
from grader.challenge.scalars import text_of
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

LEFT_OUT = "left out: nullptr in CUDA, None in Triton"


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
    """In the given order, with their tracks."""
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
    """Of Python, torch and Triton on this machine. Imports none of them."""
    found = {"python": platform.python_version()}
    for name in ("torch", "triton"):
        with suppress(metadata.PackageNotFoundError):
            found[name] = metadata.version(name)
    return found if "triton" in found else {}


def detail(
    challenge: Challenge, served: Sequence[Language] = (), judged_with: Mapping[str, str] | None = None
) -> ChallengeDetail:
    """What a student may see. ``served``: languages that a server's devices run. ``judged_with``: versions,
    by default this machine's.

    Raises ChallengeInvalid.
    """
    manifest = challenge.manifest
    return ChallengeDetail(
        **summary(challenge).model_dump(),
        spec=challenge.spec,
        drawings=challenge.drawings,
        signatures={language: signature.declaration(manifest, language) for language in manifest.languages},
        arguments=[
            ArgumentView(
                name=arg.name,
                kind=arg.kind,
                dtype=arg.dtype,
                shape=list(arg.shape),
                optional=arg.optional,
                strides=signature.stride_texts(arg),
                valid=list(arg.valid),
                value=arg.value,
                allowed=manifest.tolerance.sentence(arg) if arg.name in manifest.tolerance.results else "",
                on=_gpu_of(manifest, arg),
            )
            for arg in manifest.args
        ],
        starters={language: challenge.starter(language) for language in manifest.languages},
        cases=[_case(challenge, case) for case in challenge.cases],
        hidden_cases=len(challenge.hidden_cases),
        hidden_categories_named=manifest.name_hidden_categories,
        library_kernels=manifest.library_kernels,
        workloads=[
            WorkloadView(
                name=workload.name,
                sizes=workload.sizes,
                on=workload.on,
                scalars=workload.scalars,
                without=workload.without,
            )
            for workload in manifest.workloads
        ],
        approximations=[
            AllowedView(names=allowed.names, workloads=allowed.workloads, reason=allowed.reason)
            for allowed in manifest.approximations
        ],
        constraints=list(manifest.constraints),
        reference=challenge.reference_source,
        tolerance={"atol": manifest.tolerance.atol, "rtol": manifest.tolerance.rtol},
        rules=manifest.constructs.sentences,
        limits={name: float(value) for name, value in manifest.limits.model_dump().items()},
        served=list(served),
        judged_with=dict(judged_with or installed_versions()),
    )


def _gpu_of(manifest: Manifest, arg: Argument) -> str:
    if manifest.gpus == 1 or not arg.kind.buffer:
        return ""
    return "each" if manifest.on_each(arg) else str(arg.on)


def _case(challenge: Challenge, case: Case) -> CaseView:
    words = {
        arg.name: LEFT_OUT if arg.name in case.without else filling_of(challenge.manifest, case, arg).words()
        for arg in challenge.manifest.given
    }
    words |= {name: text_of(value) for name, value in case.scalars.items()}
    return CaseView(
        name=case.name,
        category=case.category,
        sizes=dict(case.sizes),
        inputs=words,
        note=case.note,
        on=case.on,
    )
