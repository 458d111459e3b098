"""CSV tables that are safe to open in a spreadsheet."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Collection, Iterable, Iterator
from datetime import datetime

from pydantic import BaseModel

from grader.formats import rounded_points

# Else some spreadsheets read UTF-8 as their code page.
BOM = "\ufeff"
# Spreadsheets compute cells that begin with these, skip tabs and line ends, and may separate cells at
# semicolons.
_CELL = re.compile(r'(^|[;\t\r\n]"*)(?=[=+\-@\t\r\n])')


def row(cells: Iterable[object]) -> str:
    """RFC 4180. Text that looks like a formula gets an apostrophe. Our numbers may be negative."""
    line = io.StringIO()
    csv.writer(line, lineterminator="\r\n").writerow([_text(cell) for cell in cells])
    return line.getvalue()


def table(
    kind: type[BaseModel], rows: Iterable[BaseModel], points: Collection[str] = (), bom: bool = False
) -> Iterator[str]:
    """Columns in ``points`` are rounded as points."""
    columns = list(kind.model_fields)
    yield (BOM if bom else "") + row(columns)
    for each in rows:
        yield row(
            rounded_points(value) if column in points and value is not None else _plain(value)
            for column in columns
            for value in [getattr(each, column)]
        )


def _plain(value: object) -> object:
    return value.isoformat() if isinstance(value, datetime) else value


def _text(cell: object) -> object:
    return _CELL.sub(r"\1'", cell) if isinstance(cell, str) else cell
