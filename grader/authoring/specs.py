"""Checks the texts of a challenge."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from grader.authoring.candidates import LARGE_MISTAKE, MISTAKE, mutant_files
from grader.authoring.findings import check
from grader.authoring.scaffold.texts import SPEC_TEMPLATE
from grader.challenge import signature
from grader.challenge.loader import COMMENTARY, Challenge, starter_name
from grader.languages import Language
from grader.schemas.proof import Check, Status

# The first line of a solution that `grader challenge new` wrote.
TO_DO = "To do: this is the starter. Write the solution."
LEAST_HINTS = 3
LEAST_MUTANTS = 5
LEAST_WORDS = 30


def text_checks(challenge: Challenge) -> list[Check]:
    """``spec``, ``starters``, ``mutant_files``; ``commentary``, if there is one. Raises ChallengeInvalid if
    ``spec.md`` is missing or a text is not UTF-8.
    """
    commentary = challenge.commentary
    return [
        check("spec", spec_problems(challenge.spec) + _untouched(challenge), "every part is present"),
        check("starters", _starter_problems(challenge), "they fit the signature", bad=Status.ERROR),
        _mutants(challenge),
        *([] if commentary is None else [_commentary(challenge, commentary)]),
    ]


def spec_problems(spec: str) -> list[str]:
    problems = []
    if not spec.startswith("# "):
        problems.append("it does not begin with '# Title'")
    problems += [
        f"there is no section '## {part}'" for part in ("Contract", "Hints") if f"\n## {part}" not in spec
    ]
    contract = _section(spec, "Contract")
    if contract and not re.search(r"^\|[ :-]*-", contract, re.MULTILINE):
        problems.append("'## Contract' has no table of conditions and results")
    hints = spec.count("<details>")
    if hints < LEAST_HINTS:
        problems.append(f"it has {hints} hints in <details>; it needs at least {LEAST_HINTS}")
    if hints != spec.count("</details>"):
        problems.append("<details> and </details> do not pair")
    if not re.search(r"\]\(https?://", spec):
        problems.append("it has no link to background reading, such as [title](https://...)")
    return problems


def _untouched(challenge: Challenge) -> list[str]:
    told = "is still the text of `grader challenge new`: write your own"
    problems = []
    if _introduction(challenge.spec) == _introduction(SPEC_TEMPLATE):
        problems.append(f"its introduction {told}")
    if _section(challenge.spec, "Hints") == _section(SPEC_TEMPLATE, "Hints"):
        problems.append(f"'## Hints' {told}")
    return problems


def _commentary(challenge: Challenge, text: str) -> Check:
    """With it, students read the solutions, too: neither may name a hidden case."""
    problems = []
    if not challenge.solutions:
        problems.append(
            f"staff/{COMMENTARY} comments on no solution: add staff/solution.cu or .py, or remove it"
        )
    if len(text.split()) < LEAST_WORDS:
        problems.append(
            f"staff/{COMMENTARY} has fewer than {LEAST_WORDS} words: say why the solution is fast"
        )
    shown = {COMMENTARY: text} | {
        f"solution{language.suffix}": source for language, source in challenge.solutions.items()
    }
    problems += [
        f"staff/{name} names the hidden case '{case.name}', and students read it after solving"
        for name, text in shown.items()
        for case in challenge.hidden_cases
        if re.search(rf"(?<!\w){re.escape(case.name)}(?!\w)", text)
    ]
    return check("commentary", problems, "students read it with the solutions once they solved the challenge")


def _introduction(spec: str) -> str:
    return re.split(r"^(?:```|## )", spec.partition("\n")[2], maxsplit=1, flags=re.MULTILINE)[0].strip()


def _section(spec: str, title: str) -> str:
    found = re.search(rf"^## {title}\b.*?\n(.*?)(?=^## |\Z)", spec, re.MULTILINE | re.DOTALL)
    return found[1] if found else ""


def _starter_problems(challenge: Challenge) -> list[str]:
    problems = []
    for language in challenge.manifest.languages:
        path = challenge.folder / starter_name(language)
        made = signature.starter(challenge.manifest, language)
        if path.exists() and path.read_text(encoding="utf-8") != made:
            problems.append(f"{path.name} does not fit the signature; remove it, or change the signature")
    problems += [
        f"staff/solution{language.suffix} is still the starter: write the solution"
        for language, text in challenge.solutions.items()
        if TO_DO in text.partition("\n")[0]
    ]
    return problems


def _mutants(challenge: Challenge) -> Check:
    files = mutant_files(challenge)
    problems = [
        f"{path.name} does not begin with '{MISTAKE}...'" for path in files if not _names_mistake(path)
    ]
    if len(files) < LEAST_MUTANTS:
        problems.insert(0, f"there are {len(files)} mutants; at least {LEAST_MUTANTS} are needed")
    return check("mutant_files", problems, f"{len(files)} mutants, each names its mistake")


def _names_mistake(path: Path) -> bool:
    text = path.read_text(encoding="utf-8")
    language = Language.of_file(path.name)
    if language is None or not language.python:
        said = text.removeprefix(f"{language.comment} ") if language is not None else ""
        return said != text and said.startswith((MISTAKE, LARGE_MISTAKE))
    try:
        return (ast.get_docstring(ast.parse(text)) or "").startswith((MISTAKE, LARGE_MISTAKE))
    except SyntaxError:
        return False
