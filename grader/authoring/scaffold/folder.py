"""Writes the two folders of a new challenge into a catalogue."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from grader.authoring.mutations import marked
from grader.authoring.scaffold.draft import Draft
from grader.authoring.scaffold.operation import EXAMPLE, Operation
from grader.authoring.scaffold.texts import cases_text
from grader.challenge.catalogue import Catalogue
from grader.challenge.loader import starter_name
from grader.challenge.model import Manifest
from grader.challenge.signature import starter
from grader.errors import BadRequest, Conflict
from grader.languages import Language

_SLUG = re.compile(r"[a-z][a-z0-9_]{0,63}")


def write_challenge(catalogue: Catalogue, draft: Draft, operation: Operation = EXAMPLE) -> list[Path]:
    """Write and return ``challenges/<slug>`` and ``reference/<slug>``. Raises Conflict if one exists,
    BadRequest, or ChallengeInvalid without such a track.
    """
    folders = check_free(catalogue, draft.slug)
    catalogue.curriculum.check_track(folders[0] / "challenge.toml", draft.track)
    files = _files(draft.manifest(), draft.slug, operation)
    try:
        for folder, part in zip(folders, files, strict=True):
            _write(folder, part)
    except OSError as error:
        for folder in folders:  # ours: neither existed before
            shutil.rmtree(folder, ignore_errors=True)
        raise BadRequest(f"'{error.filename}' cannot be written: {error.strerror}.") from error
    return folders


def check_free(catalogue: Catalogue, slug: str) -> list[Path]:
    """The two folders. Raises BadRequest if it is not a slug, Conflict if one exists."""
    if not _SLUG.fullmatch(slug):
        raise BadRequest(
            f"'{slug}' is not a slug.", "Use lower-case letters, digits and _, and begin with a letter."
        )
    folders = [catalogue.root / part / slug for part in ("challenges", "reference")]
    for folder in folders:
        if folder.exists():
            raise Conflict(f"'{folder}' already exists; nothing was written.", "Choose another slug.")
    return folders


def _files(manifest: Manifest, slug: str, operation: Operation) -> tuple[dict[str, str], dict[str, str]]:
    """What students see, and the rest: text by path."""
    seen = {
        "challenge.toml": operation.manifest(manifest),
        "spec.md": operation.spec(manifest),
        "cases.py": cases_text(f"The edge cases of {slug}.", operation.public_cases(manifest)),
        **{starter_name(language): starter(manifest, language) for language in manifest.languages},
    }
    hidden = cases_text(f"Staff's own cases of {slug}.", operation.hidden_cases(manifest))
    kept = {"reference.py": operation.reference(manifest), "staff/hidden_cases.py": hidden}
    solutions = operation.solutions(manifest)
    for name, text in operation.mutants(manifest).items():
        language = Language.of_file(name)
        if language is not None and language in solutions:
            text = marked(text, language, solutions[language])
        kept[f"staff/mutants/{name}"] = text
    for language, text in solutions.items():
        kept[f"staff/solution{language.suffix}"] = text
    return seen, kept


def _write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
