"""Product code reads facts about a language from its row, and does not compare it with a particular one."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from grader.languages import Language
from tests.languages.rows import PEBBLE

ROOT = Path(__file__).parents[2]
CODE = [
    path
    for folder in ("grader", "sandbox", "web")
    for path in sorted((ROOT / folder).rglob("*.py"))
    if "node_modules" not in path.parts
]
TEMPLATES = sorted((ROOT / "web" / "templates").rglob("*.html"))
SCRIPTS = [
    *sorted((ROOT / "web" / "static").glob("*.js")),
    *sorted((ROOT / "web" / "client" / "src").glob("*.js")),
]

# Modules that name a particular language: file -> why. A language's own compiler and loader may.
NAMES_ONE = {
    "grader/languages.py": "the table",
    "grader/challenge/signature.py": "the footer of a CUDA source, which nvcc compiles",
    "grader/authoring/candidates.py": "what is written in PyTorch needs a language whose runner has torch",
    "grader/authoring/scaffold/kernels.py": "the first solutions and mutants of a new challenge are written out",
}
# Literals that are a language's name or ending and mean something else, or belong to its own modules.
SAME_WORD = {
    "grader/judge/faults.py": "the kind of failure of CUDA's driver",
    "grader/judge/explaining/cuda/mistakes.py": "the same",
    "grader/judge/messages.py": "the same",
    "grader/judge/cuda/device.py": "what a control's runner preloads",
    "grader/challenge/views.py": "the package triton, of whatever language",
    "grader/cli/command.py": "the package triton, and the extra that installs it",
    "grader/judge/explaining/triton/tile_reader.py": "the package triton, in a source",
    "sandbox/runner/preload.py": "what a runner preloads, which rows choose",
    "sandbox/runner/compile.py": "what nvcc takes for CUDA by itself, and the beginning of the names of HIP's calls",
    "sandbox/runner/main.py": "the memory of a binding: the host's or a GPU's",
    "sandbox/runner/compile_triton.py": "the kind of device that torch knows a GPU by",
    "grader/authoring/importing/challenge.py": "torch's name of a GPU, in a source",
    "grader/authoring/importing/probed.py": "the same, in an argument",
    "grader/challenge/derived.py": "torch's name of a kind of device",
    "sandbox/emulator/ptx.py": "what headers are called, in the line tables of a compiler",
}


def _words() -> set[str]:
    return {word for language in Language for word in (language.value, *language.suffixes)} - {".py"}


def members(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(value=ast.Name("Language"), attr=name) if name.isupper():
                yield f"line {node.lineno}: Language.{name}"


def literals(tree: ast.AST) -> Iterator[str]:
    """A language's name or ending in a comparison, a match or a look-up."""
    for node in ast.walk(tree):
        match node:
            case ast.Compare():
                inside: list[ast.AST] = [node.left, *node.comparators]
            case ast.Dict():
                inside = [key for key in node.keys if key is not None]
            case ast.MatchValue():
                inside = [node.value]
            case ast.Call(func=ast.Attribute(attr="endswith" | "startswith")):
                inside = [*node.args]
            case _:
                continue
        for part in inside:
            for leaf in ast.walk(part):
                if isinstance(leaf, ast.Constant) and leaf.value in _words():
                    yield f"line {leaf.lineno}: {leaf.value!r}"


def _found(path: Path, find: object) -> list[str]:
    assert callable(find)
    return [*find(ast.parse(path.read_text(encoding="utf-8")))]


@pytest.mark.parametrize(("find", "allowed"), [(members, NAMES_ONE), (literals, SAME_WORD)])
def test_python_code_names_no_language(find: object, allowed: dict[str, str]) -> None:
    found = {str(path.relative_to(ROOT)): _found(path, find) for path in CODE}
    assert len(found) > 300
    assert {name: lines for name, lines in found.items() if lines and name not in allowed} == {}
    unused = {name for name in allowed if not found[name]}
    assert not unused, "these need no exception any more"


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.name)
def test_templates_name_no_language(path: Path) -> None:
    """Names and titles come from the table."""
    words = "|".join(
        re.escape(word)
        for language in Language
        for word in (language.value, language.display_name, language.suffix)
    )
    tags = re.findall(r"\{[{%].*?[%}]\}", path.read_text(), re.DOTALL)
    assert [tag for tag in tags if re.search(rf"""["'](?:{words})["']""", tag)] == []


# The editor's parsers, brackets and words for each mode that rows name.
MODES = {"languages.js", "listing.js", "paint.js", "brackets.js", "knowledge.js"}


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.name)
def test_scripts_name_no_language(path: Path) -> None:
    words = "|".join(
        re.escape(word)
        for language in Language
        for word in (language.value, language.display_name, language.suffix)
    )
    text = path.read_text()
    found = set(re.findall(rf"""["'`]({words})["'`]""", text))
    assert found <= ({language.editor for language in Language} if path.name in MODES else set())


def test_the_editor_has_a_parser_for_every_mode() -> None:
    text = (ROOT / "web" / "client" / "src" / "languages.js").read_text()
    modes = re.search(r"const MODES = \{(.*?)\};", text)
    assert modes
    known = set(re.findall(r"(\w+)(?=:|,|\s*$)", modes[1].strip()))
    assert {language.editor for language in Language} <= known


@pytest.mark.parametrize(
    ("find", "source"),
    [
        (members, "if language is Language.CUDA: pass"),
        (members, "x = {Language.TRITON: 1}"),
        (literals, "if language == 'pebble': pass"),
        (literals, "if path.suffix in ('.cu', '.c'): pass"),
        (literals, "x = {'pebble': 1}"),
        (literals, "name.endswith(('.peb', '.x'))"),
        (literals, "match language:\n    case 'triton': pass"),
    ],
)
def test_the_scanner_finds_comparisons(find: object, source: str) -> None:
    assert callable(find)
    assert PEBBLE in Language
    assert [*find(ast.parse(source))]
