"""Reads a challenge: ``challenges/<slug>/`` (what students see) and ``reference/<slug>/``."""

from __future__ import annotations

import functools
import inspect
import runpy
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, get_args

from pydantic import ValidationError

from grader.challenge import drawings, signature
from grader.challenge.autograd import forward_arguments, reference_footer
from grader.challenge.cases import Case, Derived, Filling, OnlyOn, Recipe
from grader.challenge.checker import CHECKER, Checker
from grader.challenge.examined import Examined
from grader.challenge.examined import load as load_examined
from grader.challenge.model import Manifest, NamedBaseline, check_sizes, check_values
from grader.errors import ChallengeInvalid
from grader.languages import Language

# More than a catalogue has; pages read every manifest.
_MANIFESTS = 256
# Of an upload, whose Python only runs in a box.
EXAMINED = "examined.json"
COMMENTARY = "commentary.md"
# Prefix of functions for ``[[baselines]]``.
NAMED_BASELINE = "baseline_"


def starter_name(language: Language) -> str:
    return f"starter{language.suffix}"


@dataclass(frozen=True)
class ChallengeReference:
    """The functions of ``reference.py``. They take all arguments except outputs and workspaces, as keywords;
    None for an optional input that is left out.

    ``compute`` returns a tensor, or a tuple of in-outs and outputs in signature order; ``magnitude`` the
    scale of errors. ``baseline`` is timed instead of ``compute``, and need not handle every edge of the
    contract.
    """

    compute: Callable[..., Any]
    magnitude: Callable[..., Any] | None
    baseline: Callable[..., Any] | None = None
    named: Mapping[str, Callable[..., Any]] = field(default_factory=dict)
    #: Of a challenge with ``[autograd]``.
    forward: Callable[..., Any] | None = None


@dataclass(frozen=True)
class Challenge:
    """The manifest is validated at load time; other files are read on demand."""

    slug: str
    manifest: Manifest
    folder: Path
    reference_folder: Path
    #: Set by the judge (``grader.judge.checker``) if there is a ``check.py``.
    checker: Checker | None = None

    @property
    def spec(self) -> str:
        return _text(self.folder / "spec.md")

    @property
    def drawings(self) -> dict[str, str]:
        """SVG by name, of those that the spec places. Raises ChallengeInvalid."""
        return drawings.placed_in(self.spec, self.folder)

    @functools.cached_property
    def examined(self) -> Examined | None:
        """None for a course folder, whose Python runs here. Raises ChallengeInvalid."""
        path = self.reference_folder / EXAMINED
        return load_examined(_text(path)) if path.is_file() else None

    @property
    def reference_source(self) -> str:
        """With the definition of ``reference`` by autograd."""
        return _text(self.reference_folder / "reference.py") + reference_footer(self.manifest)

    @property
    def checker_source(self) -> str | None:
        """None if the reference's answer is the only right one."""
        path = self.reference_folder / CHECKER
        return _text(path) if path.is_file() else None

    def starter(self, language: Language) -> str:
        """The committed starter, or a generated one."""
        path = self.folder / starter_name(language)
        return _text(path) if path.exists() else signature.starter(self.manifest, language)

    @property
    def solutions(self) -> dict[Language, str]:
        """Staff's, by language; empty in a student's copy."""
        paths = {language: self._staff / f"solution{language.suffix}" for language in self.manifest.languages}
        return {language: _text(path) for language, path in paths.items() if path.is_file()}

    def baseline_source(self, baseline: NamedBaseline) -> str | None:
        """None in a student's copy."""
        path = self._staff / baseline.source
        return _text(path) if path.is_file() else None

    @property
    def commentary(self) -> str | None:
        """Staff's Markdown. With it, solutions open to students who solved the challenge."""
        path = self._staff / COMMENTARY
        return _text(path) if path.is_file() else None

    @property
    def _staff(self) -> Path:
        return self.reference_folder / "staff"

    @functools.cached_property
    def cases(self) -> list[Case]:
        """Raises ChallengeInvalid with file, case and key."""
        return self._suite(self.folder / "cases.py", hidden=False)

    @functools.cached_property
    def hidden_cases(self) -> list[Case]:
        """Empty in a student's copy."""
        path = self._staff / "hidden_cases.py"
        return self._suite(path, hidden=True) if path.exists() else []

    @property
    def functions(self) -> tuple[str, ...]:
        """Those that ``reference.py`` defines. Raises ChallengeInvalid."""
        if self.examined is not None:
            return self.examined.functions
        found = {"magnitude": self.reference.magnitude, "baseline": self.reference.baseline}
        own = (name for name, function in found.items() if function is not None)
        return ("reference", *own, *self.reference.named)

    def suite(self, workloads: str, *, hidden: bool = True) -> list[Case]:
        """``workloads``: "cpu" or "gpu"."""
        cases = [*self.cases, *(self.hidden_cases if hidden else ())]
        return [case for case in cases if case.runs_on(workloads)]

    def case(self, name: str) -> Case:
        """Public or hidden. Raises ChallengeInvalid."""
        for case in [*self.cases, *self.hidden_cases]:
            if case.name == name:
                return case
        known = ", ".join(case.name for case in self.cases)
        raise ChallengeInvalid(f"{self.slug} has no case '{name}'", f"Its cases are: {known}.")

    @functools.cached_property
    def reference(self) -> ChallengeReference:
        """Runs trusted staff code. Raises ChallengeInvalid, also for an upload, which runs only in a box."""
        path = self.reference_folder / "reference.py"
        if self.examined is not None:
            raise ChallengeInvalid(f"{path}: uploaded code runs only in a box")
        names = _run(path)
        if footer := reference_footer(self.manifest):
            if "forward" in names:
                self._check_parameters(path, "forward", names["forward"], forward_arguments(self.manifest))
            elif "reference" not in names:
                raise ChallengeInvalid(f"{path}: it defines no function 'forward', which [autograd] needs")
            exec(footer, names)  # noqa: S102 - ours
        if "reference" not in names:
            raise ChallengeInvalid(f"{path}: it defines no function 'reference'")
        named = {name: value for name, value in names.items() if name.startswith(NAMED_BASELINE)}
        for name in ("reference", "magnitude", "baseline", *named):
            if name in names:
                self._check_parameters(path, name, names[name])
        return ChallengeReference(
            names["reference"], names.get("magnitude"), names.get("baseline"), named, names.get("forward")
        )

    def _check_parameters(self, path: Path, name: str, function: object, passed: Sequence[str] = ()) -> None:
        if not callable(function):
            raise ChallengeInvalid(f"{path}: '{name}' is not a function")
        passed = passed or self.manifest.passed
        try:
            inspect.signature(function).bind(**dict.fromkeys(passed))
        except TypeError as error:
            wanted = f"{name}({', '.join(passed)})"
            raise ChallengeInvalid(
                f"{path}: {name}: {error}", f"The judge calls it with keyword arguments: {wanted}."
            ) from error

    @functools.cached_property
    def inputs(self) -> dict[str, Filling]:
        """Default recipes, from ``inputs()`` in ``cases.py``. Raises ChallengeInvalid with file and argument."""
        path = self.folder / "cases.py"
        inputs: dict[str, Filling]
        if self.examined is not None:
            inputs = dict(self.examined.inputs)
        elif (make := _run(path).get("inputs")) is None:
            return {}
        else:
            try:
                inputs = dict(make())
            except Exception as error:  # staff's code: this file is at fault
                raise ChallengeInvalid(f"{path}: inputs(): {error}", "Define inputs() -> dict.") from error
        self._check_inputs(inputs, f"{path}: inputs()")
        return inputs

    @property
    def readable(self) -> set[str]:
        """Inputs and in-outs."""
        return {arg.name for arg in self.manifest.given}

    def _returned(self, path: Path, *, hidden: bool) -> list[Case]:
        """Of the file's ``cases()``, now or when it was examined."""
        if self.examined is not None:
            return list(self.examined.hidden_cases if hidden else self.examined.cases)
        names = _run(path)
        make = names.get("cases")
        if not callable(make):
            raise ChallengeInvalid(f"{path}: it defines no function 'cases'", "Define cases() -> list[Case].")
        try:
            return list(make())
        except Exception as error:  # staff's code: this file is at fault
            raise ChallengeInvalid(
                f"{path}: {error}", "Categories and recipes: grader.challenge.cases"
            ) from error

    def _suite(self, path: Path, *, hidden: bool) -> list[Case]:
        suite = self._returned(path, hidden=hidden)
        if not suite and not hidden:
            raise ChallengeInvalid(f"{path}: cases() returned no case")
        seen = {case.name for case in self.cases} if hidden else set()
        for place, case in enumerate(suite):
            if not isinstance(case, Case):
                raise ChallengeInvalid(
                    f"{path}: cases() returned {case!r}, which is not a case: make cases with case(...)"
                )
            suite[place] = case = self._check_case(case, path, seen)
            _check_timed(case, path, hidden=hidden)
        if hidden and self.manifest.name_hidden_categories:
            self._check_named_categories(suite, path)
        if not hidden:
            self._check_groups(suite)
        filled = [replace(case, inputs={**self.inputs, **case.inputs}) for case in suite]
        return [replace(case, hidden=True) for case in filled] if hidden else filled

    def _check_groups(self, suite: Sequence[Case]) -> None:
        known = [case.name for case in suite]
        for group in self.manifest.grading.groups:
            if unknown := sorted(set(group.cases) - set(known)):
                raise ChallengeInvalid(
                    f"{self.folder / 'challenge.toml'}: grading.groups '{group.name}': there is no public case "
                    f"'{unknown[0]}'",
                    f"Its cases are: {', '.join(known)}.",
                )

    def _check_named_categories(self, suite: Sequence[Case], path: Path) -> None:
        """A named category must reveal no more than public cases of that category do."""
        public = {case.category for case in self.cases}
        for case in suite:
            if case.category not in public:
                raise ChallengeInvalid(
                    f"{path}: case '{case.name}': no public case has its category '{case.category.value}', which "
                    "name_hidden_categories would show students",
                    "Add a public case of this category, take another category, or leave name_hidden_categories out.",
                )

    def _check_case(self, case: Case, path: Path, seen: set[str]) -> Case:
        """With scalars as their types take them."""
        where = f"{path}: case '{case.name}'"
        if case.name in seen:
            raise ChallengeInvalid(f"{where}: another case has this name")
        seen.add(case.name)
        manifest = self.manifest
        if case.on not in (None, *get_args(OnlyOn)):
            raise ChallengeInvalid(
                f"{where}: on = {case.on!r}",
                'Set it to "gpu", or leave it out to run the case on every board.',
            )
        if case.on is not None and manifest.gpus > 1:
            raise ChallengeInvalid(
                f"{where}: on = {case.on!r}, but a challenge for several GPUs has no such cases",
                "Leave 'on' out and take a smaller size.",
            )
        if case.on is not None and self.checker_source is not None and not manifest.has_checked_results:
            raise ChallengeInvalid(
                f"{where}: on = {case.on!r}, but {CHECKER} is asked about pieces of such a case, and there are none",
                "Give [pieces] a size that every result has, without running sums and [compare]; or leave 'on' out and "
                "take a smaller size.",
            )
        if odd := [name for name, value in case.sizes.items() if not isinstance(value, int)]:
            raise ChallengeInvalid(f"{where}: sizes {odd} are not whole numbers")
        try:
            check_sizes(manifest, dict(case.sizes), where)
            scalars = check_values(manifest, case.scalars, case.without, where)
        except ValueError as error:
            raise ChallengeInvalid(str(error)) from error
        self._check_inputs(case.inputs, where)
        if both := sorted(set(case.without) & set(case.inputs)):
            raise ChallengeInvalid(
                f"{where}: it leaves out {both}, and gives it values", "Keep one of `without` and `inputs`."
            )
        return replace(case, scalars=scalars)

    def _check_inputs(self, inputs: Mapping[str, object], where: str) -> None:
        if unknown := set(inputs) - self.readable:
            raise ChallengeInvalid(
                f"{where}: inputs {sorted(unknown)} do not exist; there are {sorted(self.readable)}"
            )
        if odd := [name for name, recipe in inputs.items() if not isinstance(recipe, Recipe | Derived)]:
            raise ChallengeInvalid(f"{where}: inputs {odd} are not recipes of grader.challenge.cases")


def _check_timed(case: Case, path: Path, *, hidden: bool) -> None:
    """Raises ChallengeInvalid."""
    if not case.timed:
        return
    reasons = {
        "it is hidden": hidden,
        "it runs only on a GPU": case.on is not None,
        "it has scalars of its own": bool(case.scalars),
        "it leaves inputs out": bool(case.without),
        "it has no inputs of its own": not case.inputs,
    }
    for reason, holds in reasons.items():
        if holds:
            raise ChallengeInvalid(
                f"{path}: case '{case.name}': timed = True, but {reason}",
                "Timed rounds draw the inputs of public cases at a workload's own sizes and scalars. Leave timed out.",
            )


def _run(path: Path) -> dict[str, Any]:
    if not path.is_file():
        raise ChallengeInvalid(f"{path}: the file is missing")
    try:
        return runpy.run_path(str(path), run_name=f"grader_course_{path.stem}")
    except (Exception, SystemExit) as error:  # one challenge's file must not end its reader
        raise ChallengeInvalid(f"{path}: {type(error).__name__}: {error}") from error


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise ChallengeInvalid(f"{path}: the file is missing") from error
    except UnicodeDecodeError as error:
        raise ChallengeInvalid(f"{path}: it is not UTF-8: {error}") from error
    except OSError as error:
        raise ChallengeInvalid(f"{path}: it cannot be read: {error.strerror}") from error


def read_manifest(path: Path) -> Manifest:
    """Raises ChallengeInvalid."""
    return parse_manifest(path, _text(path))


# Keyed by text: two edits within one tick of a file system's clock look the same.
@functools.lru_cache(maxsize=_MANIFESTS)
def parse_manifest(path: Path, text: str) -> Manifest:
    """Raises ChallengeInvalid."""
    try:
        data = tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # includes numbers too long and lists too deep
        raise ChallengeInvalid(
            f"{path}: not TOML: {error}", "docs/authoring.md describes each key."
        ) from error
    try:
        return Manifest.model_validate(data)
    except ValidationError as error:
        raise ChallengeInvalid(_explain(path, error), "docs/authoring.md describes each key.") from error


def _explain(path: Path, error: ValidationError) -> str:
    lines = []
    for problem in error.errors(include_url=False):
        key = ".".join(str(part) for part in problem["loc"]) or "(the whole file)"
        lines.append(f"{path}: {key}: {problem['msg'].removeprefix('Value error, ')}")
    return "\n".join(lines)
