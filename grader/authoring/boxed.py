"""Examines and proves one challenge inside a box, and reports to the worker outside."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from grader.authoring.proof import Options, prove
from grader.challenge.catalogue import Catalogue
from grader.challenge.examined import Examined, dump
from grader.device_kinds import CPU, EMULATED
from grader.errors import ChallengeInvalid, GraderError
from grader.sandbox.emulator import HOST, is_built
from grader.sandbox.toolkit import find_toolkit

Say = Callable[[dict[str, Any]], None]


def examine(root: Path, slug: str, say: Say) -> None:
    """Report what the challenge's Python gives (``examined``), ``progress`` and findings (``proof``); or why
    it does not load (``broken``) or this box cannot do it (``failed``).
    """
    try:
        text = dump(_examined(Catalogue(root).load(slug)))
    except ChallengeInvalid as error:
        say({"op": "broken", "message": error.told.replace(f"{root}/", "")})
        return
    say({"op": "examined", "text": text})

    def told(done: int, total: int, label: str) -> None:
        say({"op": "progress", "done": done, "total": total, "label": label.removeprefix(f"{slug}: ")})

    try:
        proofs = prove(root, [slug], Options(device=_board(), here=True), told)
    except GraderError as error:
        say({"op": "failed", "message": error.told})
        return
    say({"op": "proof", "proof": proofs.challenges[0].model_dump(mode="json")})


def _board() -> str:
    """The emulated GPU if its engine and nvcc are here; else the processor."""
    if not is_built() or find_toolkit() is None:
        return CPU
    HOST.chmod(0o700)  # an archive drops the mode
    return EMULATED


def _examined(challenge: Any) -> Examined:
    return Examined(
        tuple(challenge.cases), tuple(challenge.hidden_cases), challenge.inputs, challenge.functions
    )
