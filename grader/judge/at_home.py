"""``grader test`` and ``grader profile``: the same judge on the user's machine, without server, queue or database."""

from __future__ import annotations

import hashlib
from collections.abc import Callable

from grader.challenge.loader import Challenge
from grader.device_kinds import EMULATED, home_board, kind_of
from grader.errors import ChallengeInvalid
from grader.judge.device import make_device
from grader.judge.job import JudgingProgress
from grader.judge.oracle import find_case
from grader.judge.request import Request
from grader.judge.session import Session
from grader.languages import Language
from grader.sandbox.box import BoxMaker
from grader.schemas.report import Report


def judge_at_home(
    challenge: Challenge,
    source: str,
    language: Language,
    boxes: BoxMaker,
    *,
    device: str | None = None,
    case: str | None = None,
    seed: int | None = None,
    timing: bool = True,
    on_progress: Callable[[JudgingProgress], None] = lambda _: None,
) -> Report:
    """Judge ``source`` here, for the board ``device`` (unless given: that of a machine without a GPU). ``case`` runs
    that one alone; with ``seed`` it replays a failure that a report named.

    The seeds are fixed per challenge, so that two runs on one machine see the same data.
    Raises ChallengeInvalid on an unknown case and on one that the board does not run, LanguageNotServed where the
    device does not run the language, BoxUnavailable.
    """
    board = device or home_board(language)
    cases = [find_case(challenge, case)] if case else [*challenge.cases, *challenge.hidden_cases]
    if case and not cases[0].runs_on(kind_of(board).workloads):
        raise ChallengeInvalid(
            f"Case '{case}' is too large for the board {board}.",
            "It runs on a GPU: `grader test --device` names one.",
        )
    request = Request(
        challenge=challenge,
        language=language,
        source=source,
        device=board,
        seed_key=_seed_key(challenge),
        cases=cases,
        seeds={case: seed} if case is not None and seed is not None else {},
        timing=timing and case is None,
    )
    return _report(request, boxes, on_progress)


def profile_at_home(
    challenge: Challenge,
    source: str,
    language: Language,
    boxes: BoxMaker,
    *,
    workload: str | None = None,
    on_progress: Callable[[JudgingProgress], None] = lambda _: None,
) -> Report:
    """Count the work of ``source`` on the emulated GPU: of one ``workload`` of the challenge, or of all that the
    emulated GPU's board has. Of the cases only the first one runs. What took seconds here is left out of the report, so
    that two of the same source are equal.

    Raises ChallengeInvalid on an unknown workload, and as ``judge_at_home``.
    """
    names = [it.name for it in challenge.manifest.workloads]
    if workload is not None and workload not in names:
        raise ChallengeInvalid(
            f"'{challenge.slug}' has no workload '{workload}'.", f"It has: {', '.join(names)}."
        )
    request = Request(
        challenge=challenge,
        language=language,
        source=source,
        device=EMULATED,
        seed_key=_seed_key(challenge),
        cases=challenge.cases[:1],
        only_workloads=[workload] if workload is not None else [],
    )
    report = _report(request, boxes, on_progress)
    cases = [it.model_copy(update={"seconds": None}) for it in report.cases]
    return report.model_copy(update={"cases": cases, "breakdown_s": {}})


def _seed_key(challenge: Challenge) -> bytes:
    return hashlib.sha256(f"at home: {challenge.slug}".encode()).digest()


def _report(request: Request, boxes: BoxMaker, on_progress: Callable[[JudgingProgress], None]) -> Report:
    session = Session(request, make_device(request.device), boxes, on_progress, interrupt=lambda: None)
    try:
        return session.run().report
    finally:
        boxes.reap()
