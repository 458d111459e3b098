"""In the C of the emulated GPU, neither headers include each other, nor files call each other."""

from __future__ import annotations

import re
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

EMULATOR = Path(__file__).resolve().parents[2] / "sandbox" / "emulator"
_COMMENT_OR_TEXT = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\])*"', re.DOTALL)
# Both begin in the first column.
_FUNCTION = re.compile(
    r"^(?!static\b|typedef\b|#|extern\b|return\b|else\b)[A-Za-z_][\w *]*?\b(\w+)\([^;{]*\{", re.MULTILINE
)
_VARIABLE = re.compile(
    r"^(?!static\b|typedef\b|#|extern\b)(?:const )?(?:struct )?\w+ ([^(){};=]*)(?:=[^;]*)?;", re.MULTILINE
)


def _folders() -> list[Path]:
    return [EMULATOR / "engine", EMULATOR / "host"]


def _circle(graph: dict[str, set[str]]) -> list[str] | None:
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return None


def _code(path: Path) -> str:
    tables = "".join(
        (path.parent / name).read_text() for name in re.findall(r'#include "(\w+\.ops)"', path.read_text())
    )
    return _COMMENT_OR_TEXT.sub(" ", path.read_text() + tables)


def _defined(code: str) -> tuple[set[str], set[str]]:
    """Functions and variables that other files may use."""
    declared = [name for each in _VARIABLE.findall(code) for name in each.split(",")]
    return set(_FUNCTION.findall(code)), {re.findall(r"\w+", name.partition("[")[0])[-1] for name in declared}


def _calls(folder: Path) -> dict[str, set[str]]:
    """By file, the files whose functions and variables it uses."""
    codes = {path.name: _code(path) for path in folder.glob("*.c")}
    called = {name: set(re.findall(r"(?<![\w.>])(\w+)\s*\(", code)) for name, code in codes.items()}
    named = {name: set(re.findall(r"(?<![\w.>])[A-Za-z_]\w*", code)) for name, code in codes.items()}
    users: dict[str, set[str]] = {name: set() for name in codes}
    for owner, code in codes.items():
        functions, variables = _defined(code)
        for user in codes.keys() - {owner}:
            if functions & called[user] or variables & named[user]:
                users[user].add(owner)
    return users


@pytest.mark.parametrize("folder", _folders(), ids=lambda folder: folder.name)
def test_headers_that_include_each_other_are_found(folder: Path) -> None:
    includes = {
        path.name: set(re.findall(r'^#include "([^"]+)"', path.read_text(), re.MULTILINE))
        for path in [*folder.glob("*.h"), *folder.glob("*.c")]
    }
    assert _circle(includes) is None


@pytest.mark.parametrize("folder", _folders(), ids=lambda folder: folder.name)
def test_c_files_that_call_each_other_are_found(folder: Path) -> None:
    assert _circle(_calls(folder)) is None


def test_the_scanner_sees_a_call_cycle(tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text("int one(void) {\n    return two();\n}\n")
    (tmp_path / "b.c").write_text("int *room[2], spare;\nint two(void) { return 2; } /* unlike one() */\n")
    assert _circle(_calls(tmp_path)) is None
    (tmp_path / "b.c").write_text("int *room[2], spare;\nint two(void) { return one(); }\n")
    assert _circle(_calls(tmp_path)) is not None
    (tmp_path / "b.c").write_text("int *room[2], spare;\nint two(void) { return 2; }\n")
    (tmp_path / "c.c").write_text("extern int spare;\nint three(void) { return spare + one(); }\n")
    assert _calls(tmp_path)["c.c"] == {"a.c", "b.c"}


def test_the_scanner_finds_the_engines_calls() -> None:
    """Otherwise the tests above would prove nothing."""
    calls = _calls(EMULATOR / "engine")
    assert {"check.c", "regions.c", "findings.c", "profile.c"} <= calls["memory.c"]
    assert "alu.c" in calls["warp.c"]
    assert "order.c" in _calls(EMULATOR / "host")["graphs.c"]
