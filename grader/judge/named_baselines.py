"""A challenge's baselines by name (``[[baselines]]``): which apply on a device, and their boxes.

One that cannot run here is left out (see ``failed_baselines``) and fails no submission.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from grader.challenge.loader import Challenge
from grader.challenge.model import NamedBaseline
from grader.errors import BoxUnavailable, JudgeFailure
from grader.judge.compilation import compile_source, request_of
from grader.judge.launch import Launcher, LoadFailed
from grader.judge.runner_client import RunnerClient
from grader.languages import ON_EMULATED, ON_GPU, Language
from grader.sandbox.kernel_headers import HEADER_LIBRARIES


class NamedBaselineFailed(Exception):
    """It cannot be timed here."""


def applicable(challenge: Challenge, on: str) -> Sequence[NamedBaseline]:
    """All on a GPU, submissions only on an emulated one, none on the processor. ``on``: ON_HOST, ON_GPU or
    ON_EMULATED."""
    if on not in (ON_GPU, ON_EMULATED):
        return ()
    return [
        baseline
        for baseline in challenge.manifest.baselines
        if (_runs(challenge, baseline, on) if baseline.source else on == ON_GPU)
    ]


def _runs(challenge: Challenge, baseline: NamedBaseline, on: str) -> bool:
    language = Language.of_file(baseline.source)
    return language is not None and language.runs_on(on) and challenge.baseline_source(baseline) is not None


def start(launcher: Launcher, baseline: NamedBaseline) -> RunnerClient:
    """Raises NamedBaselineFailed."""
    try:
        return _started(launcher, baseline)
    except (JudgeFailure, LoadFailed, BoxUnavailable) as error:
        raise NamedBaselineFailed(str(error)) from error


def _started(launcher: Launcher, baseline: NamedBaseline) -> RunnerClient:
    if baseline.function:
        return launcher.reference("eager", baseline.function)
    request, language = launcher.request, Language.of_file(baseline.source)
    source = request.challenge.baseline_source(baseline)
    assert language is not None
    assert source is not None
    # It may use libraries that submissions may not.
    challenge, manifest = request.challenge, request.challenge.manifest
    more = ["cublas", "cutlass", *(["torch"] if manifest.gpus == 1 else [])]
    allow = [*manifest.allow, *(name for name in more if name not in manifest.allow)]
    allowing = replace(challenge, manifest=manifest.model_copy(update={"allow": allow}))
    request = replace(request, challenge=allowing, language=language, source=source, artefact=None)
    artefact = None
    if language.compiled:
        wanted = request_of(allowing, language, source, launcher.device.architecture)
        there = tuple(name for name in wanted.headers if HEADER_LIBRARIES[name].folder() is not None)
        wanted = replace(wanted, headers=there, background=launcher.device.on == ON_GPU)
        result = compile_source(launcher.boxes, wanted, launcher.interrupt)
        if not result.ok:
            raise JudgeFailure(f"the baseline '{baseline.name}' does not compile: {result.log.strip()[:500]}")
        artefact = result.artefact
    return Launcher(request, launcher.device, launcher.boxes, launcher.interrupt, artefact).submission()
