"""No module of the product imports itself through others, not even within a function."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).resolve().parents[1]


def _structure() -> ModuleType:
    spec = importlib.util.spec_from_file_location("structure", ROOT / "benchmarks" / "structure.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _circles(sources: dict[str, str]) -> list[list[str]]:
    structure = _structure()
    imports = {name: structure._imports(name, text, sources.keys()) for name, text in sources.items()}
    circles: list[list[str]] = structure._circles(imports)
    return circles


def test_there_are_no_import_cycles() -> None:
    folders = {"grader": ROOT / "grader", "grader.sandbox": ROOT / "sandbox", "grader.web": ROOT / "web"}
    sources: dict[str, str] = {}
    for package, folder in folders.items():
        for file in folder.rglob("*.py"):
            parts = file.relative_to(folder).with_suffix("").parts
            if "node_modules" not in parts:
                sources[".".join([package, *(part for part in parts if part != "__init__")])] = (
                    file.read_text()
                )
    assert len(sources) > 300
    assert "grader.sandbox.runner.main" in sources
    assert _circles(sources) == []


def test_an_import_cycle_within_a_function_is_found() -> None:
    sources = {
        "a": "from b import thing",
        "b": "def late():\n    import c",
        "c": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import a",
        "d": "import a",
    }
    assert _circles(sources) == [["a", "b", "c"]]


def test_a_cycle_of_bare_names_is_found_only_in_the_runner() -> None:
    sources = {
        "grader.sandbox.runner.one": "import two",
        "grader.sandbox.runner.two": "def late():\n    from one import thing",
        "grader.sandbox.one": "import two",
        "grader.sandbox.two": "import one",
    }
    assert _circles(sources) == [["grader.sandbox.runner.one", "grader.sandbox.runner.two"]]
