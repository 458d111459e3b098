"""Writes a challenge in another platform's form, without anything hidden."""

from __future__ import annotations

from collections.abc import Callable

from grader.authoring.exporting.exported import Exported
from grader.authoring.exporting.gpumode import gpumode
from grader.authoring.exporting.kattis import kattis
from grader.authoring.exporting.kernelbench import kernelbench
from grader.challenge.loader import Challenge
from grader.challenge.model import Kind
from grader.errors import BadRequest

FORMS: dict[str, Callable[[Challenge], Exported]] = {
    "kernelbench": kernelbench,
    "gpumode": gpumode,
    "kattis": kattis,
}


def export(challenge: Challenge, form: str) -> Exported:
    """Raises BadRequest."""
    if form not in FORMS:
        raise BadRequest(f"There is no form '{form}'.", f"There are: {', '.join(FORMS)}.")
    _refuse_unsaid(challenge)
    return FORMS[form](challenge)


def _refuse_unsaid(challenge: Challenge) -> None:
    """Raises BadRequest for what no form holds."""
    manifest = challenge.manifest
    unsaid = {
        "[tolerance] of single outputs": bool(manifest.tolerance.results),
        "[autograd]": manifest.autograd is not None,
        "arguments with a layout": any(arg.layout is not None for arg in manifest.args),
        "types of 8 bits, packed or complex types": any(
            arg.kind.buffer and not arg.dtype.strided for arg in manifest.args
        ),
        "several GPUs": manifest.gpus > 1,
        "workspaces": any(arg.kind is Kind.WORKSPACE for arg in manifest.args),
        "optional inputs": bool(manifest.optional),
        "results that count in part (`valid`)": any(arg.valid for arg in manifest.args),
    }
    if found := [words for words, there in unsaid.items() if there]:
        raise BadRequest(f"{challenge.slug} cannot be exported: no form has {' or '.join(found)}.")
