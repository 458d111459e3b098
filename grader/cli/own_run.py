"""A run of one case with own sizes and inputs."""

from __future__ import annotations

import ast
import json
import math
import struct
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from rich.text import Text

from grader import limits
from grader.cli.client import Client, segment, understood
from grader.cli.terminal import out, safe
from grader.errors import BadRequest, NotFound
from grader.schemas.card_tool import CardTool, CardToolRun
from grader.schemas.own_case import OwnCase, RunChanges
from grader.schemas.report import Report, ThreadPrints, place_text

_FILE_BYTES = 4 * limits.MIB
# A terminal gets this many, a pipe all.
_LINES = 40
_NPY = {
    **{"f2": "e", "f4": "f", "f8": "d"},
    **{"i1": "b", "u1": "B", "i2": "h", "u2": "H", "i4": "i", "u4": "I", "i8": "q", "u8": "Q"},
}


def asked(
    case: str | None,
    sizes: Sequence[str],
    inputs: Sequence[str],
    seed: int | None,
    tool: CardTool | None = None,
) -> OwnCase | None:
    """Raises BadRequest."""
    if case is None:
        if sizes or inputs or seed is not None or tool is not None:
            raise BadRequest(
                "--size, --input, --seed and --tool go with one case, and no case is named.",
                "Name one with --case NAME; `grader show SLUG` lists them.",
            )
        return None
    given = dict(_pair("--size", text, "n=1000") for text in sizes)
    values = {
        name: _of_file(name, Path(text[1:])) if text.startswith("@") else text
        for name, text in (_pair("--input", text, "x=ramp") for text in inputs)
    }
    return OwnCase(name=case, sizes=given, inputs=values, seed=seed, tool=tool)


def _pair(option: str, text: str, example: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name.strip() or not value.strip():
        raise BadRequest(f"{option} '{text[:60]}' is not NAME=VALUE.", f"Write it as {option} {example}.")
    return name.strip(), value.strip()


def _of_file(name: str, path: Path) -> list[Any]:
    """Raises BadRequest."""
    try:
        if path.stat().st_size > _FILE_BYTES:
            raise BadRequest(
                f"--input {name}: '{path}' has more than {_FILE_BYTES:,} bytes.",
                f"A run may have {limits.OWN_VALUES:,} values.",
            )
        data = path.read_bytes()
    except OSError as error:
        raise BadRequest(
            f"--input {name}: '{path}' cannot be read: {error.strerror}.", "Check its name."
        ) from error
    try:
        found = _npy(data) if data.startswith(b"\x93NUMPY") else json.loads(data)
    except (ValueError, SyntaxError, KeyError, TypeError, IndexError, struct.error, RecursionError) as error:
        raise BadRequest(
            f"--input {name}: '{path}' holds no values: {error}.",
            "Write a JSON list such as [1, 2, 3], or save an array of numbers with numpy.save.",
        ) from error
    if not isinstance(found, list):
        raise BadRequest(f"--input {name}: '{path}' holds no list.", "Write a JSON list such as [1, 2, 3].")
    return found


def _npy(data: bytes) -> list[Any]:
    """Nested by shape. Raises ValueError and the like."""
    wide = data[6] > 1
    (length,) = struct.unpack_from("<I" if wide else "<H", data, 8)
    start = (12 if wide else 10) + length
    header = ast.literal_eval(data[start - length : start].decode("latin-1").strip())
    order, kind = header["descr"][0], header["descr"][1:]
    if kind not in _NPY or order not in "<>|":
        raise ValueError(f"its type {header['descr']} is not supported")
    if header["fortran_order"] and len(header["shape"]) > 1:
        raise ValueError("it is in Fortran's order: save numpy.ascontiguousarray(x)")
    count = math.prod(header["shape"])
    values = list(struct.unpack_from(f"{'>' if order == '>' else '<'}{count}{_NPY[kind]}", data, start))
    for size in reversed(header["shape"][1:]):
        values = [values[at : at + size] for at in range(0, len(values), size)] if size else []
    return values


def printed_lines(report: Report) -> list[Text]:
    case = next((case for case in report.cases if case.prints or case.prints_left_out), None)
    if case is None:
        return []
    lines = list(_lines(case.prints))
    shown = lines[:_LINES] if out().is_terminal else lines
    parts = [Text("\nPrinted by the kernels", "bold"), Text("\n").join(safe(line) for line in shown)]
    if len(lines) > len(shown):
        more = f"  ... and {len(lines) - len(shown)} more lines; `grader run ... | grep 'block 3 '` shows others."
        parts.append(Text(more, "dim"))
    if case.prints_left_out:
        times = "time" if case.prints_left_out == 1 else "times"
        parts.append(
            Text(
                f"  They printed {case.prints_left_out:,} more {times}; only the first prints are kept.",
                "yellow",
            )
        )
    return parts


def tool_lines(found: CardToolRun | None) -> list[Text]:
    if found is None:
        return []
    parts = [Text.assemble((f"\n{found.tool.label}", "bold"), "  ").append_text(safe(found.sentence))]
    for kernel in found.kernels:
        parts.append(safe(f"  {kernel.name}  grid {kernel.grid}  block {kernel.block}"))
        parts += [safe(f"    {counter.label:56} {counter.text}") for counter in kernel.counters]
    for finding in found.findings:
        place = f"line {finding.line}: " if finding.line else ""
        times = f" ({finding.times} times)" if finding.times > 1 else ""
        parts.append(safe(f"  {place}{finding.text}{times}", "red"))
        parts += [safe(f"    {detail}", "dim") for detail in finding.details]
    return parts


def _lines(prints: Sequence[ThreadPrints]) -> Iterator[str]:
    for entry in prints:
        for line in entry.text.rstrip("\n").split("\n"):
            yield f"  block {place_text(entry.block)} thread {place_text(entry.thread)}: {line}"


def put_changes(client: Client, run: str) -> None:
    """Compares with the last run of the same case."""
    try:
        found = understood(RunChanges, client.get(f"/runs/{segment(run)}/changes"))
    except NotFound:
        return
    line = Text.assemble("\n", (f"Since run {found.run}", "bold"), "  ")
    out().print(line.append_text(safe(found.sentence)))
    for change in found.outputs:
        if not change.same:
            out().print(safe(f"  {change.sentence}", "dim"))
