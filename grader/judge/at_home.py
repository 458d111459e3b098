"""``grader test``: the same judge on the user's own machine, without server, queue or database."""

from __future__ import annotations

import hashlib
from collections.abc import Callable

from grader.challenge.loader import Challenge
from grader.device_kinds import home_board
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
    Raises ChallengeInvalid on an unknown case, LanguageNotServed where the device does not run the language,
    BoxUnavailable.
    """
    device = device or home_board(language)
    cases = [find_case(challenge, case)] if case else [*challenge.cases, *challenge.hidden_cases]
    request = Request(
        challenge=challenge,
        language=language,
        source=source,
        device=device,
        seed_key=hashlib.sha256(f"at home: {challenge.slug}".encode()).digest(),
        cases=cases,
        seeds={case: seed} if case is not None and seed is not None else {},
        timing=timing and case is None,
    )
    session = Session(request, make_device(device), boxes, on_progress, interrupt=lambda: None)
    try:
        return session.run().report
    finally:
        boxes.reap()
