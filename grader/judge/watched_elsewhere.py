"""Runs a submission for another board also on an emulated GPU, for ``grader.judge.constructs``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from grader.challenge.pattern import runs_on
from grader.device_kinds import EMULATED, kind_of
from grader.errors import JudgeFailure
from grader.judge.compilation import compile_source, compiler_of, request_of
from grader.judge.constructs import Watched, needs_survey
from grader.judge.correctness import Suite
from grader.judge.device import make_device
from grader.judge.launch import Launcher, LoadFailed
from grader.judge.request import Request
from grader.judge.survey import library_operations
from grader.logs import get_logger
from grader.sandbox.box import BoxMaker
from grader.sandbox.emulator import is_built
from grader.schemas.report import CaseReport

log = get_logger(__name__)


def watched_elsewhere(
    request: Request, boxes: BoxMaker, interrupt: Callable[[], None] = lambda: None
) -> Watched:
    """Raises BoxUnavailable if no box starts."""
    language = request.language
    device = make_device(EMULATED) if is_built() else None
    if device is None or language not in device.languages():
        return Watched(unknown="Only the emulated GPU can tell, and it is not installed here.")
    kind, manifest = kind_of(EMULATED), request.challenge.manifest
    cases = [
        case
        for case in request.cases
        if not case.hidden and case.on is None and runs_on(manifest, case, kind)
    ]
    here = replace(request, device=EMULATED, cases=cases, artefact=None, timing=False, public_only=True)
    artefact = None
    if language.compiled:
        if compiler_of(language).version() is None:
            return Watched(
                unknown=f"It must be compiled for the emulated GPU: {compiler_of(language).missing}."
            )
        wanted = request_of(request.challenge, language, request.source, device.architecture)
        compiled = compile_source(boxes, wanted, interrupt)
        if not compiled.ok:
            return Watched(unknown="Only the emulated GPU can tell, and the source does not compile for it.")
        artefact = compiled.artefact
    launcher = Launcher(here, device, boxes, interrupt, artefact)
    suite = Suite(
        challenge=request.challenge,
        cases=cases,
        seed_of=here.seed_of,
        start=launcher.submission,
        on_case=lambda *_: interrupt(),
        device=device,
        warm_up=language.torch,
        stop_at_failure=True,
        watched=Watched(),
    )
    try:
        client = suite.run(launcher.submission())
        if not suite.passed:
            return Watched(unknown=_why_not(suite.reports))
        watched = suite.watched
        assert watched is not None
        if client is not None and needs_survey(request):
            watched.library_operations = library_operations(client, here, cases, device)
        return watched
    except LoadFailed as failed:
        return Watched(unknown=f"Only the emulated GPU can tell, and it cannot load it: {failed.detail}")
    except JudgeFailure as error:
        log.warning("not_watched", why=error.message)
        return Watched(unknown="Only the emulated GPU can tell, and it failed.")
    finally:
        launcher.close()


def _why_not(reports: Sequence[CaseReport]) -> str:
    failed = next(report for report in reports if report.verdict.holds_back)
    first = failed.detail.partition("\n")[0]
    return f"Only the emulated GPU can tell, and there it fails case '{failed.name}': {first}"
