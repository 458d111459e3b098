"""Tables of commas that are safe to open in a spreadsheet."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator
from datetime import datetime

from pydantic import BaseModel

# A spreadsheet computes a cell that begins with one of these; it skips the last three.
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")


def row(cells: Iterable[object]) -> str:
    """One line as in RFC 4180; None is an empty cell. A text that looks like a formula gets an apostrophe, which marks
    text in a spreadsheet. Numbers are ours and may be negative.
    """
    line = io.StringIO()
    csv.writer(line, lineterminator="\r\n").writerow([_text(cell) for cell in cells])
    return line.getvalue()


def table(kind: type[BaseModel], rows: Iterable[BaseModel]) -> Iterator[str]:
    """Line by line the fields of models, the first one their names. Times are ISO text."""
    columns = list(kind.model_fields)
    yield row(columns)
    for each in rows:
        yield row(_plain(getattr(each, column)) for column in columns)


def _plain(value: object) -> object:
    return value.isoformat() if isinstance(value, datetime) else value


def _text(cell: object) -> object:
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(_FORMULA) else cell
