"""Counts words and stilted phrases of code and docs: figures, not a gate.

Usage: python scripts/english.py [--json] [--lines] [PATH ...]

By package: words of comments, docstrings and pages, loop variables called ``it``, and ``PHRASES``.
``--lines`` prints each place of a phrase.
"""

from __future__ import annotations

import argparse
import ast
import io
import json
import re
import subprocess
import tokenize
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PHRASES = {
    "where for if": r"\bwhere (?:it|he|she|there|they|that|this|nothing|nobody|one) (?:is|are|was|has|have|does)",
    "beside": r"\bbeside\b",
    "anew": r"\banew\b",
    "told": r"\btold\b",
    "stands": r"\bstands?\b",
    "lies": r"\blies?\b",
    "so many": r"\bso (?:many|much|often|long|far)\b(?! as| that)",
    "of its own": r"\bof (?:its|his|her|their|one's) own\b",
    "what is": r"\b[Ww]hat (?:is|was|are|were) \w+",
    "who": r"(?:^|[.:] )Who \w+",
}
_COMMENT = {
    ".c": r"/\*(.*?)\*/|//([^\n]*)",
    ".h": r"/\*(.*?)\*/|//([^\n]*)",
    ".js": r"/\*(.*?)\*/|(?:^|\s)//([^\n]*)",
    ".css": r"/\*(.*?)\*/",
}


def main() -> None:
    parser = argparse.ArgumentParser(
        description="Words of comments, docstrings and docs, and stilted phrases."
    )
    parser.add_argument("paths", nargs="*", help="files or folders (default: everything that git tracks)")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--lines", action="store_true", help="print each place that has a phrase")
    options = parser.parse_args()
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for path in _tracked(options.paths):
        package = _package(path)
        for line, text, kind in texts(path):
            found = {name: len(re.findall(pattern, text)) for name, pattern in PHRASES.items()}
            counts[package].update({kind: len(text.split()), "phrases": sum(found.values())})
            counts[package].update(found)
            if options.lines and any(found.values()):
                print(f"{path}:{line}: {', '.join(name for name in found if found[name])}")
        if path.suffix == ".py":
            lines = list(loops_over_it(path))
            counts[package]["it"] += len(lines)
            if options.lines:
                print("".join(f"{path}:{line}: it\n" for line in lines), end="")
    counts["all"] = sum(counts.values(), Counter())
    if options.json:
        print(
            json.dumps(
                {name: dict(sorted(count.items())) for name, count in sorted(counts.items())}, indent=2
            )
        )
        return
    columns = ("comments", "docs", "it", "phrases")
    print(f"{'package':<22}" + "".join(f"{column:>10}" for column in columns))
    for name, count in sorted(counts.items(), key=lambda pair: (pair[0] == "all", pair[0])):
        print(f"{name:<22}" + "".join(f"{count[column]:>10,}" for column in columns))
    print("\n".join(f"{counts['all'][name]:>8,}  {name}" for name in PHRASES))


def texts(path: Path) -> Iterator[tuple[int, str, str]]:
    """Line, text and kind (comments or docs)."""
    content = path.read_text(errors="replace")
    if path.suffix == ".md":
        yield 1, content, "docs"
    elif path.suffix == ".py":
        for token in tokenize.generate_tokens(io.StringIO(content).readline):
            if token.type == tokenize.COMMENT and not re.match(r"#\s*(?:noqa|type:|fmt:|!)", token.string):
                yield token.start[0], token.string.lstrip("# "), "comments"
        for node in ast.walk(ast.parse(content)):
            if not isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                continue
            if text := ast.get_docstring(node):
                yield getattr(node, "lineno", 1), text, "comments"
    elif path.suffix in _COMMENT:
        for match in re.finditer(_COMMENT[path.suffix], content, re.DOTALL | re.MULTILINE):
            text = " ".join(part for part in match.groups() if part)
            yield content.count("\n", 0, match.start()) + 1, text, "comments"


def loops_over_it(path: Path) -> Iterator[int]:
    for node in ast.walk(ast.parse(path.read_text())):
        targets = [node.target] if isinstance(node, ast.For | ast.comprehension) else []
        for target in targets:
            if isinstance(target, ast.Name) and target.id == "it":
                yield target.lineno


def _tracked(paths: list[str]) -> Iterator[Path]:
    listed = subprocess.run(
        ["git", "ls-files", "--", *paths], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout
    for name in listed.splitlines():
        path = ROOT / name
        if path.is_file() and path.suffix in {".py", ".md", *_COMMENT}:
            yield path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path


def _package(path: Path) -> str:
    parts = path.resolve().relative_to(ROOT).parts
    if parts[0] in {"grader", "sandbox", "web", "docs", "tests"} and len(parts) > 2:
        return "/".join(parts[:2])
    return parts[0] if len(parts) > 1 else "."


if __name__ == "__main__":
    main()
