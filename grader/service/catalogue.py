"""The challenges, as they are shown. Nothing here runs ``reference.py``: its text is read, no more."""

from __future__ import annotations

import structlog

from grader.challenge import signature
from grader.challenge.cases import Case, Integers, Normal, Recipe, Uniform
from grader.challenge.expression import parse
from grader.challenge.loader import Challenge
from grader.challenge.model import Argument, Kind
from grader.errors import ChallengeInvalid
from grader.schemas.challenge import (
    ArgumentView,
    CaseView,
    ChallengeDetail,
    ChallengeList,
    ChallengeSummary,
    WorkloadView,
)
from grader.service.devices import serves
from grader.service.platform import Platform

log = structlog.get_logger(__name__)


def list_challenges(platform: Platform) -> ChallengeList:
    """Every valid challenge by track and place in it. An invalid one is left out and logged: it must not hide
    others.
    """
    found = []
    for slug in platform.course.slugs():
        try:
            found.append(platform.course.load(slug))
        except ChallengeInvalid as error:
            log.warning("challenge_invalid", challenge=slug, error=error.message)
    found.sort(key=lambda it: (it.manifest.track, it.manifest.order, it.slug))
    return ChallengeList(challenges=[_summary(challenge) for challenge in found])


def _summary(challenge: Challenge) -> ChallengeSummary:
    manifest = challenge.manifest
    return ChallengeSummary(
        slug=challenge.slug,
        title=manifest.title,
        track=manifest.track,
        difficulty=manifest.difficulty,
        tags=manifest.tags,
        version=manifest.version,
        languages=manifest.languages,
    )


def get_challenge(platform: Platform, slug: str) -> ChallengeDetail:
    """Raises UnknownChallenge, ChallengeInvalid."""
    challenge = platform.course.load(slug)
    manifest = challenge.manifest
    devices = platform.settings.device_list
    return ChallengeDetail(
        **_summary(challenge).model_dump(),
        spec=challenge.spec,
        signatures={language: signature.declaration(manifest, language) for language in manifest.languages},
        arguments=[
            ArgumentView(name=arg.name, kind=arg.kind, dtype=arg.dtype, shape=list(arg.shape))
            for arg in manifest.args
        ],
        starters={language: challenge.starter(language) for language in manifest.languages},
        cases=[_case(challenge, case) for case in challenge.cases],
        hidden_cases=len(challenge.hidden_cases),
        workloads=[WorkloadView(name=it.name, sizes=it.sizes, on=it.on) for it in manifest.workloads],
        reference=challenge.reference_source,
        tolerance=manifest.tolerance.model_dump(),
        limits={name: float(value) for name, value in manifest.limits.model_dump().items()},
        served=[it for it in manifest.languages if any(serves(device, it) for device in devices)],
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
    )


def _default(arg: Argument, case: Case) -> Recipe:
    """The recipe that ``challenge.toml`` gives an input, at the sizes of a case."""
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
