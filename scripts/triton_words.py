"""Writes Triton's signatures and docstrings for the editor, shortened, as JSON, with Triton's licence.

python scripts/triton_words.py web/static/built/triton.json

Writes nothing without Triton, or if the file is up to date.
"""

from __future__ import annotations

import enum
import hashlib
import inspect
import json
import re
import sys
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

# Public, but the compiler's.
_INTERNAL = set(
    "PropagateNan aggregate_replace condition const constexpr_type dtype pair_uniform_to_normal philox_impl "
    "str_to_ty to_tensor tuple uint_to_uniform_float".split()
)
_TOP = ("jit", "autotune", "heuristics", "Config", "cdiv", "next_power_of_2")
_LARGEST_CHARS = 700
_PARAMETER_CHARS = 240
_FIELD = re.compile(r"^:(\w+)(?: +([\w.* ]+?))?:[ ]?(.*)$")
_ROLE = re.compile(r":[\w:]+:`([^`]*)`")
_LINK = re.compile(r"`([^`<]+?) *<[^>`]+>`_+")
_MEMBER = "This function can also be called as a member function"


def main(target: Path) -> int:
    try:
        installed = distribution("triton")
    except PackageNotFoundError:
        return 0
    stamp = f"{installed.version} {hashlib.sha256(Path(__file__).read_bytes()).hexdigest()[:12]}"
    if target.exists() and json.loads(target.read_text()).get("stamp") == stamp:
        return 0
    files = [file for file in installed.files or () if file.name.upper().startswith("LICEN")]
    licence = "\n".join(Path(str(installed.locate_file(file))).read_text() for file in files)
    words = {"stamp": stamp, "triton": installed.version, "licence": licence, "entries": dict(entries())}
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(json.dumps(words, ensure_ascii=False, separators=(",", ":")))
    print(f"editor: {len(words['entries'])} words of Triton {installed.version}")
    return 0


def entries() -> Iterator[tuple[str, dict[str, Any]]]:
    import triton
    import triton.language as tl

    for name in sorted(vars(tl)):
        value = getattr(tl, name)
        if name.startswith("_") or name in _INTERNAL or inspect.ismodule(value):
            continue
        if isinstance(value, tl.dtype):
            if not isinstance(value, tl.pointer_type) and name != "void":
                yield f"tl.{name}", {"kind": "type", "signature": f"tl.{name}", "about": _of_type(value)}
        elif found := entry(f"tl.{name}", value):
            yield f"tl.{name}", found
    for name in _TOP:
        if found := entry(f"triton.{name}", getattr(triton, name)):
            yield f"triton.{name}", found


def entry(name: str, value: Any) -> dict[str, Any] | None:
    """None without a docstring."""
    function = getattr(value, "fn", value)
    text = inspect.getdoc(function) or ""
    if not text or not callable(function):
        return None
    about, parameters = read(text)
    kind = "type" if inspect.isclass(function) else "function"
    return {"kind": kind, "signature": signature(name, function), "about": about, "parameters": parameters}


def signature(name: str, function: Any) -> str:
    try:
        given = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return name
    parts: list[str] = []
    for parameter in given:
        if parameter.name.startswith("_") or parameter.name == "self":
            continue
        if parameter.kind is parameter.KEYWORD_ONLY and not any(part.startswith("*") for part in parts):
            parts.append("*")
        star = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}.get(parameter.kind, "")
        default = "" if parameter.default is parameter.empty else f"={_shown(parameter.default)}"
        parts.append(f"{star}{parameter.name}{default}")
    return f"{name}({', '.join(parts)})"


def _shown(default: Any) -> str:
    if isinstance(default, enum.Enum):
        return default.name
    value = getattr(default, "value", default)
    shown = getattr(value, "__name__", None) or repr(value)
    return shown if len(shown) <= 24 else "..."


def read(docstring: str) -> tuple[str, dict[str, str]]:
    """The text before the fields, and the parameters'."""
    lines = docstring.split("\n")
    first = next((at for at, line in enumerate(lines) if _FIELD.match(line)), len(lines))
    return _about(lines[:first]), dict(_parameters(lines[first:]))


def _about(lines: list[str]) -> str:
    """Whole paragraphs, without examples."""
    found: list[str] = []
    within = False
    for paragraph in "\n".join(lines).split("\n\n"):
        indented = paragraph.startswith((" ", "\t"))
        within = paragraph.startswith(".. ") or (within and indented)
        text = _plain(paragraph)
        if within or not text or text.startswith(_MEMBER):
            continue
        if found and sum(map(len, found)) + len(text) > _LARGEST_CHARS:
            break
        found.append(_cut(text, _LARGEST_CHARS))
    return "\n".join(found)


def _parameters(lines: list[str]) -> Iterator[tuple[str, str]]:
    name, text = "", ""
    for line in [*lines, ":end:"]:
        field = _FIELD.match(line)
        if field is None:
            text += f" {line}"
            continue
        if name and (said := _cut(_plain(text), _PARAMETER_CHARS)):
            yield name, said
        is_parameter = field[1] == "param" and field[2]
        name, text = (field[2].split()[-1].strip("*"), field[3]) if is_parameter else ("", "")


def _plain(text: str) -> str:
    """In one line, without Sphinx's markup."""
    text = _LINK.sub(r"\1", _ROLE.sub(r"\1", text)).replace("``", "`")
    return " ".join(text.replace(_MEMBER, "\0").split("\0")[0].split())


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1].rsplit(" ", 1)[0] + "…"


def _of_type(value: Any) -> str:
    bits = value.primitive_bitwidth
    if value.is_floating():
        return f"A float of {bits} bits."
    if bits == 1:
        return "A truth value, as comparisons give."
    return f"{'A signed' if value.is_int_signed() else 'An unsigned'} integer of {bits} bits."


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
