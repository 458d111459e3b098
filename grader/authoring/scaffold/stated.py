"""A new challenge from a signature and a PyTorch reference, without kernels and prose."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from grader.authoring.calibrate import SEVERAL, calibrate
from grader.authoring.candidates import NATIVE
from grader.authoring.mutants import stand_in
from grader.authoring.scaffold import suite, texts
from grader.authoring.scaffold.answers import Answers
from grader.authoring.scaffold.draft import Draft
from grader.authoring.scaffold.folder import write_challenge
from grader.authoring.scaffold.suite import Planned
from grader.authoring.specs import TO_DO
from grader.challenge.catalogue import Catalogue
from grader.challenge.loader import Challenge
from grader.challenge.model import Manifest, Pieces
from grader.challenge.signature import starter
from grader.errors import BadRequest
from grader.languages import Language

EXACT = "exact"
TOLERANCE_HINT = "exact, ATOL,RTOL such as 1e-6,1e-5, or nothing: then the reference's own errors propose it."
REFERENCE_HINT = (
    "An expression such as torch.softmax(x, dim=1), statements with ; of which the last is the result, or a file that "
    "defines reference(...)."
)
# Characters. Blocks of 128 make any example long.
_USUAL_EXAMPLE, _MOST_EXAMPLE = 600, 2500


def read_tolerance(text: str) -> dict[str, float] | None:
    """None for an empty text. Raises BadRequest."""
    if not text:
        return None
    if text == EXACT:
        return {"atol": 0.0, "rtol": 0.0}
    try:
        atol, rtol = (float(part) for part in text.split(","))
    except ValueError as error:
        raise BadRequest(f"'{text}' is not a tolerance.", TOLERANCE_HINT) from error
    return {"atol": atol, "rtol": rtol}


def reference_of(said: str, manifest: Manifest) -> str:
    """Raises BadRequest."""
    path = Path(said)
    try:
        if said.endswith(".py") and path.is_file():
            text = path.read_text(encoding="utf-8")
            if not any(getattr(node, "name", "") == "reference" for node in ast.parse(text).body):
                raise BadRequest(f"'{said}' defines no function reference.", REFERENCE_HINT)
            return text
        lines = [ast.unparse(node) for node in ast.parse(said).body]
        ast.parse(lines[-1] if lines else "", mode="eval")
    except (OSError, SyntaxError, ValueError) as error:
        raise BadRequest(f"'{said}' is no PyTorch: {error}.", REFERENCE_HINT) from error
    if not lines:
        raise BadRequest("There is no reference.", REFERENCE_HINT)
    given = [arg for arg in manifest.args if arg.kind.passed]
    parameters = ", ".join(f"{arg.name}: {texts.annotation(arg)}" for arg in given)
    one = "torch.Tensor"
    number = len(manifest.results)
    returns = one if number == 1 else f"tuple[{', '.join([one] * number)}]"
    head = f"def reference({parameters}) -> {returns}:"
    if len(head) > suite.LINE:
        head = f"def reference(\n    {parameters}\n) -> {returns}:"
    body = "".join(f"    {line}\n" for line in [*lines[:-1], f"return {lines[-1]}"])
    return f'"""The contract of {manifest.title}: what PyTorch does."""\n\nimport torch\n\n\n{head}\n{body}'


@dataclass
class Stated:
    """Its cases are those that the reference answers."""

    slug: str
    said: str
    tolerance: Mapping[str, float] | None
    answers: Answers = field(init=False)

    def __post_init__(self) -> None:
        self.answers = Answers(self.slug, other_sizes=True)

    def manifest(self, manifest: Manifest) -> str:
        exact = all(not arg.dtype.floating for arg in manifest.results)
        tolerance = self.tolerance or ({"atol": 0.0, "rtol": 0.0} if exact else {"atol": 1e-5, "rtol": 1e-5})
        why = "Of exact results." if not any(tolerance.values()) else "As the author says."
        self.public_cases(manifest)
        along = self._asked(manifest).divided()
        pieces = Pieces(along=along) if along else None
        return texts.manifest_text(manifest.model_copy(update={"pieces": pieces}), tolerance, why)

    def spec(self, manifest: Manifest) -> str:
        example = self._asked(manifest).example(_USUAL_EXAMPLE)
        return texts.stated_spec(
            manifest,
            " ".join(self.said.split()) if not self.said.endswith(".py") else "",
            example if len(example) <= _MOST_EXAMPLE else "",
            {case.name for case in self.public_cases(manifest) if not case.on},
        )

    def reference(self, manifest: Manifest) -> str:
        return reference_of(self.said, manifest)

    def public_cases(self, manifest: Manifest) -> Sequence[Planned]:
        """Raises BadRequest if the reference answers none."""
        asked = self._asked(manifest)
        found = asked.of(suite.public_cases(manifest), some=True)
        large = suite.large_case(manifest) if asked.divided() else None
        return [*found, large] if large else found

    def hidden_cases(self, manifest: Manifest) -> Sequence[Planned]:
        return self._asked(manifest).of(suite.hidden_cases(manifest))

    def solutions(self, manifest: Manifest) -> Mapping[Language, str]:
        """Placeholders."""
        return {
            language: f"{language.comment} {TO_DO}\n{starter(manifest, language)}"
            for language in manifest.languages
            if language is not NATIVE
        }

    def mutants(self, manifest: Manifest) -> Mapping[str, str]:
        return {}

    def _asked(self, manifest: Manifest) -> Answers:
        if self.answers.manifest is None:
            self.answers.manifest, self.answers.source = manifest, self.reference(manifest)
        return self.answers


@dataclass(frozen=True)
class Written:
    """``dropped``: usual cases without an answer; ``advice``: by its own errors, or ""."""

    folders: list[Path]
    dropped: list[str]
    advice: str = ""


def write_stated(
    catalogue: Catalogue, draft: Draft, said: str, tolerance: Mapping[str, float] | None
) -> Written:
    """Raises as ``write_challenge``."""
    operation = Stated(draft.slug, said, tolerance)
    try:
        folders = write_challenge(catalogue, draft, operation)
    finally:
        operation.answers.close()
    challenge = catalogue.load(draft.slug)
    if NATIVE in challenge.manifest.languages:
        solution = folders[1] / "staff" / f"solution{NATIVE.suffix}"
        solution.write_text(stand_in(challenge), encoding="utf-8")
    advice = ""
    if tolerance is None and any(arg.dtype.floating for arg in challenge.manifest.results):
        advice = _propose(challenge)
    return Written(folders, operation.answers.dropped, advice)


def _propose(challenge: Challenge) -> str:
    """Returns advice if there is no tolerance."""
    found = calibrate(challenge, [case for case in challenge.cases if case.on is None], "cpu")
    proposed = found.proposed
    path = challenge.folder / "challenge.toml"
    text = path.read_text(encoding="utf-8")
    for name, value in (("atol", proposed.atol), ("rtol", proposed.rtol)):
        text = re.sub(rf"^{name} = .*$", f"{name} = {value:g}", text, count=1, flags=re.MULTILINE)
    text = text.replace("# As the author says. ", "# By the reference's own errors. ")
    path.write_text(text, encoding="utf-8")
    return f"No tolerance fits: {SEVERAL}." if found.is_hopeless else ""
