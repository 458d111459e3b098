"""Two consoles: results on stdout, progress and remarks on stderr."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import BaseModel
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from grader.cli.output import printable
from grader.errors import BadRequest


class _Console(Console):
    def on_broken_pipe(self) -> None:
        """Rich would exit with 1, which means a submission that is not accepted."""
        raise BrokenPipeError


@cache
def out() -> Console:
    return _Console(highlight=False, soft_wrap=False)


@cache
def aside() -> Console:
    return _Console(stderr=True, highlight=False)


# Wider than any table: output to a program is not wrapped.
_UNBOUNDED_COLUMNS = 4096


# Rich's padding.
_GAP = 2


@cache
def _unbounded() -> Console:
    return _Console(highlight=False, width=_UNBOUNDED_COLUMNS)


def busy(label: str) -> AbstractContextManager[object]:
    """Shows nothing without a terminal."""
    return aside().status(label) if aside().is_terminal else nullcontext()


def table(*names: str) -> Table:
    made = Table(box=None, pad_edge=False, header_style="bold")
    for name in names:
        made.add_column(Text(name))
    return made


def put_table(table: Table) -> None:
    """If it is empty, says so on stderr."""
    if out().is_terminal:
        out().print(table)
    else:
        with _unbounded().capture() as captured:
            _unbounded().print(table)
        sys.stdout.writelines(f"{line.rstrip()}\n" for line in captured.get().splitlines())
    if not table.row_count:
        say("There are none.", "dim")


def put_columns(columns: dict[str, list[Text]], optional: Sequence[str] = (), wrapped: str = "") -> None:
    """People copy cells, so none is cut: on a narrow terminal, ``optional`` columns are left out in order,
    and only ``wrapped`` takes more lines.
    """
    width = out().width if out().is_terminal else _UNBOUNDED_COLUMNS
    shown, left_out = dict(columns), []
    for name in optional:
        if _width(shown, wrapped) <= width:
            break
        left_out.append(name)
        del shown[name]
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in shown:
        table.add_column(name, no_wrap=name != wrapped, overflow="fold")
    for row in zip(*shown.values(), strict=True):
        table.add_row(*row)
    put_table(table)
    if left_out:
        say(f"This terminal is too narrow for: {', '.join(left_out)}. --json has everything.", "dim")


def _width(columns: dict[str, list[Text]], wrapped: str) -> int:
    needed = 0
    for name, cells in columns.items():
        texts = [name, *(cell.plain for cell in cells)]
        words = [word for text in texts for word in text.split()] if name == wrapped else texts
        needed += max(map(cell_len, words), default=0)
    return needed + _GAP * (len(columns) - 1)


def say(text: str, style: str = "") -> None:
    aside().print(Text(printable(text), style), soft_wrap=True)


def tell(text: str, style: str = "") -> None:
    """Unwrapped, because programs may read it."""
    out().print(Text(printable(text), style), soft_wrap=True)


def moment(at: datetime | None, zone: bool = False) -> str:
    """``2026-01-31 18:00`` in this machine's zone; "" for None."""
    return "" if at is None else f"{at.astimezone():%Y-%m-%d %H:%M{' %Z' if zone else ''}}"


def write(path: Path, text: str) -> None:
    """Keeps line ends. Raises BadRequest."""
    try:
        path.write_text(text, encoding="utf-8", newline="")
    except OSError as error:
        raise BadRequest(f"'{path}' cannot be written: {error.strerror}.") from error


def safe(text: object, style: str = "") -> Text:
    """Strips markup and control characters of untrusted text."""
    return Text(printable(str(text)), style)


def put_json(value: BaseModel | Any) -> None:
    _put(value.model_dump_json(indent=2) if isinstance(value, BaseModel) else json.dumps(value, indent=2))


def put_json_line(value: dict[str, BaseModel]) -> None:
    """Unbuffered, for programs that follow along."""
    _put(json.dumps({name: each.model_dump(mode="json") for name, each in value.items()}))


def _put(text: str) -> None:
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        text = json.dumps(json.loads(text), indent=2)  # escapes what the stream cannot hold
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()
