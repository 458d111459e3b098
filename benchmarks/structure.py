"""Figures on the code's structure, by package: files, lines, modules with one importer, import circles.

Usage: python benchmarks/structure.py [--commit COMMIT] [--json]

An import counts at the top, in a function, or under TYPE_CHECKING. A package's ``__init__`` is a module like others.
Tests do not count as importers.
"""

from __future__ import annotations

import argparse
import ast
import json
import subprocess
from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
# Imported as grader.sandbox and grader.web, but outside the package's folder.
_OUTSIDE = {"sandbox": "grader.sandbox", "web": "grader.web"}


def main() -> None:
    parser = argparse.ArgumentParser(
        description="Files, lines, modules with one importer and circles, by package."
    )
    parser.add_argument("--commit", default="HEAD", help="what to look at (default: HEAD)")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    found = measure(options.commit)
    if options.json:
        print(json.dumps(found, indent=2))
        return
    print(f"{'package':<20}{'files':>7}{'lines':>8}{'one importer':>14}")
    for name, row in found["packages"].items():
        print(f"{name:<20}{row['files']:>7}{row['lines']:>8}{row['one_importer']:>14}")
    print(f"import circles: {len(found['circles'])}")
    for circle in found["circles"]:
        print("  " + ", ".join(circle))


def measure(commit: str) -> dict[str, Any]:
    """``packages``: by name, and ``all`` of the product and ``tests``; ``circles``: names of modules."""
    sources = _sources(commit)
    product = {name: text for name, text in sources.items() if name.startswith("grader")}
    imports = {name: _imports(name, text, product) for name, text in product.items()}
    importers = Counter(target for targets in imports.values() for target in targets)
    packages: dict[str, dict[str, int]] = defaultdict(lambda: {"files": 0, "lines": 0, "one_importer": 0})
    for name, text in sources.items():
        inside = name in product
        package = ".".join(name.split(".")[:2]) if name.count(".") > 1 else name.split(".")[0]
        for key in (package, "all") if inside else ("tests",):
            packages[key]["files"] += 1
            packages[key]["lines"] += text.count("\n")
            packages[key]["one_importer"] += inside and importers[name] == 1
    return {
        "commit": _git("rev-parse", "--short", commit).strip(),
        "packages": dict(sorted(packages.items())),
        "circles": _circles(imports),
    }


def _git(*words: str) -> str:
    return subprocess.run(["git", *words], cwd=ROOT, check=True, capture_output=True, text=True).stdout


def _sources(commit: str) -> dict[str, str]:
    """By the module's name, those of the product and of the tests."""
    found = {}
    for path in _git("ls-tree", "-r", "--name-only", commit).splitlines():
        first = path.split("/")[0]
        # What runs inside a box imports from its own folder, by names without a package.
        if (
            not path.endswith(".py")
            or path.startswith("sandbox/runner/")
            or first not in {"grader", "tests", *_OUTSIDE}
        ):
            continue
        name = path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        if first in _OUTSIDE:
            name = _OUTSIDE[first] + name.removeprefix(first)
        found[name] = _git("show", f"{commit}:{path}")
    return found


def _imports(name: str, text: str, known: Iterable[str]) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                found.add(inner if inner in known else node.module)
    return {module for module in found if module in known and module != name}


def _circles(imports: dict[str, set[str]]) -> list[list[str]]:
    """Groups of modules that each import one another, directly or by way of others (Tarjan, 1972)."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found = []

    def visit(name: str) -> None:
        index[name] = low[name] = len(index)
        stack.append(name)
        for target in imports[name]:
            if target not in index:
                visit(target)
                low[name] = min(low[name], low[target])
            elif target in stack:
                low[name] = min(low[name], index[target])
        if low[name] == index[name]:
            at = stack.index(name)
            if len(stack) - at > 1:
                found.append(sorted(stack[at:]))
            del stack[at:]

    for name in imports:
        if name not in index:
            visit(name)
    return sorted(found)


if __name__ == "__main__":
    main()
