"""Reads a roster: a table separated by commas, semicolons or tabs whose first line names its columns."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from grader import limits
from grader.errors import BadRequest

EMAIL, FULL_NAME, NUMBER, SECTION, GROUP, ACCOUNT = (
    "email", "full_name", "student_number", "section", "group", "account",
)  # fmt: skip
_FIRST, _LAST, _LOGIN = "first name", "last name", "login"
# Ours, Canvas's, Moodle's, student records'; without case, spaces, dots and dashes.
_NAMES = {
    EMAIL: ("email", "mail", "emailaddress", "emailaccount"),
    FULL_NAME: ("fullname", "name", "student", "studentname", "displayname"),
    _FIRST: ("firstname", "givenname", "vorname"),
    _LAST: ("lastname", "surname", "familyname", "nachname"),
    NUMBER: (
        *("studentnumber", "number", "id", "studentid", "idnumber", "sisuserid"),
        *("matriculationnumber", "matrikelnummer"),
    ),
    SECTION: ("section", "class", "tutorial", "sections"),
    GROUP: ("group", "team", "groups"),
    ACCOUNT: ("account",),
    # An account here may have the same name by chance, or by intention.
    _LOGIN: ("username", "user", "login", "loginid", "sisloginid"),
}
# "ID" is Canvas's own; a row without it is not a person.
_CANVAS = frozenset({"student", "id", "sisloginid", "section"})
_CANVAS_TEST_STUDENT = "Student, Test"
# Persian and several scripts of India need these in names.
_JOINERS = "\u200c\u200d"
_FIELD_OF = {name: column for column, names in _NAMES.items() for name in names}
_LENGTHS = {
    EMAIL: limits.EMAIL_CHARS,
    FULL_NAME: limits.TITLE_CHARS,
    _FIRST: limits.TITLE_CHARS,
    _LAST: limits.TITLE_CHARS,
    NUMBER: limits.NAME_CHARS,
    SECTION: limits.NAME_CHARS,
    GROUP: limits.NAME_CHARS,
    ACCOUNT: limits.NAME_CHARS,
    _LOGIN: limits.EMAIL_CHARS,
}
_BECOMES = {_FIRST: FULL_NAME, _LAST: FULL_NAME, _LOGIN: EMAIL}
_DELIMITERS = (",", ";", "\t")


@dataclass(frozen=True)
class RosterLine:
    number: int
    values: Mapping[str, str]

    def __getitem__(self, column: str) -> str:
        return self.values.get(column, "")


@dataclass(frozen=True)
class BadCell:
    line: int
    column: str
    text: str


@dataclass(frozen=True)
class RosterFile:
    columns: frozenset[str]
    lines: Sequence[RosterLine]
    problems: Sequence[BadCell]
    unused: Sequence[str] = field(default_factory=list)


class DecodedText(NamedTuple):
    """Nothing in the file names a ``guessed`` encoding."""

    text: str
    encoding: str
    guessed: bool = False


def decode(content: bytes) -> DecodedText:
    """UTF-8, UTF-16 with a byte order mark, else Windows-1252, which older spreadsheets write. Raises
    BadRequest for others, or a mixture, as after two files were joined.
    """
    for mark, codec, encoding in (
        (codecs.BOM_UTF8, "utf-8-sig", "UTF-8"),
        (codecs.BOM_UTF16_LE, "utf-16", "UTF-16"),
        (codecs.BOM_UTF16_BE, "utf-16", "UTF-16"),
    ):
        if content.startswith(mark):
            return DecodedText(_decoded(content, codec), encoding)
    if b"\0" in content:  # UTF-16 without a mark, or not text
        raise _not_text(content, content.index(b"\0"))
    try:
        return DecodedText(content.decode("utf-8"), "UTF-8")
    except UnicodeDecodeError:
        _check_mixed(content)
        return DecodedText(_decoded(content, "cp1252"), "Windows-1252", guessed=True)


def _check_mixed(content: bytes) -> None:
    """Windows-1252 is hardly ever valid UTF-8 by chance: if any line is, names of one part would come out
    wrong. Raises BadRequest.
    """
    right, wrong = False, 0
    for number, line in enumerate(content.split(b"\n"), 1):
        if line.isascii():
            continue
        try:
            line.decode("utf-8")
            right = True
        except UnicodeDecodeError:
            wrong = wrong or number
    if right:
        raise BadRequest(
            f"Line {wrong} of the roster is not text in UTF-8, but other lines are.",
            "Perhaps two files were joined: save each as CSV in UTF-8 first.",
        )


def _decoded(content: bytes, encoding: str) -> str:
    try:
        text = content.decode(encoding)
    except UnicodeDecodeError as error:
        raise _not_text(content, error.start) from error
    if "\0" in text:  # UTF-32 begins with UTF-16's mark
        raise _not_text(content, 0)
    return text


def _not_text(content: bytes, at: int) -> BadRequest:
    line = content[:at].count(b"\n") + 1
    return BadRequest(
        f"Line {line} of the roster is not text in UTF-8, UTF-16 or Windows-1252.", "Save it as CSV in UTF-8."
    )


def parse(text: str) -> RosterFile:
    """Problems of single rows are in ``problems``. Raises BadRequest."""
    text = text.removeprefix("\ufeff")
    if not text.strip():
        raise BadRequest(
            "The roster is empty.", "Its first line names the columns, such as: email,full_name,section"
        )
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=_delimiter(text), strict=True)
    rows = _rows(reader)
    _, header = next(rows)
    names = [re.sub(r"[\W_]+", "", name.lower()) for name in header]
    canvas = set(names) >= _CANVAS
    columns = _columns(names)
    _check_header(header, columns)
    lines: list[RosterLine] = []
    problems: list[BadCell] = []
    for number, cells in rows:
        if not any(cell.strip() for cell in cells) or (canvas and not _canvas_person(names, cells)):
            continue
        if len(lines) + len(problems) >= limits.ROSTER_ROWS:
            raise BadRequest(
                f"The roster has more than {limits.ROSTER_ROWS:,} rows.",
                "Import it in parts, without dropping students.",
            )
        line, wrong = _line(number, header, columns, cells)
        if canvas:
            last, _, first = line[FULL_NAME].partition(", ")
            line = RosterLine(number, {**line.values, FULL_NAME: f"{first} {last}".strip()})
        problems += wrong
        if not wrong:
            lines.append(line)
    unused = [
        name.strip() for name, column in zip(header, columns, strict=True) if column is None and name.strip()
    ]
    known = {_BECOMES.get(column, column) for column in columns if column is not None}
    return RosterFile(frozenset(known), lines, problems, unused)


def _columns(names: Sequence[str]) -> list[str | None]:
    columns = [_FIELD_OF.get(name) for name in names]
    others = set(columns)
    if columns.count(NUMBER) > 1:  # next to a student number, "ID" is the other program's id
        columns = [None if name == "id" else column for name, column in zip(names, columns, strict=True)]
    if _LOGIN in others and not others & {EMAIL, NUMBER, ACCOUNT}:
        return [ACCOUNT if column == _LOGIN else column for column in columns]
    if EMAIL in others or ACCOUNT in others:
        return [None if column == _LOGIN else column for column in columns]
    return columns


def _canvas_person(names: Sequence[str], cells: Sequence[str]) -> bool:
    """Other rows hold points, or are the test student's."""
    row = {name: cell.strip() for name, cell in zip(names, cells, strict=False)}
    test = (
        row.get("student") == _CANVAS_TEST_STUDENT and not row.get("sisuserid") and not row.get("sisloginid")
    )
    return bool(row.get("id")) and not test


def _delimiter(text: str) -> str:
    first = text.lstrip().partition("\n")[0]
    return max(_DELIMITERS, key=first.count)


def _rows(reader: Iterator[list[str]]) -> Iterator[tuple[int, list[str]]]:
    """With its first line's number. Raises BadRequest."""
    number = 1
    try:
        for cells in reader:
            yield number, cells
            number = reader.line_num + 1  # type: ignore[attr-defined]
    except csv.Error as error:
        raise BadRequest(f"Line {number} of the roster: {error}.", "Is a quotation mark missing?") from error


def _check_header(header: Sequence[str], columns: Sequence[str | None]) -> None:
    known = [column for column in columns if column is not None]
    if not {EMAIL, NUMBER, ACCOUNT} & set(known):
        raise BadRequest(
            "The roster's first line names no column that identifies people: "
            f"{', '.join(name[:40] for name in header[:12]) or 'it is empty'}.",
            "Name a column email, student_number or account.",
        )
    for column in known:
        if known.count(column) > 1:
            twins = [name.strip() for name, of in zip(header, columns, strict=True) if of == column]
            raise BadRequest(
                f"Several columns of the roster mean the same: {', '.join(twins)}.", "Keep one of them."
            )


def _line(
    number: int, header: Sequence[str], columns: Sequence[str | None], cells: Sequence[str]
) -> tuple[RosterLine, list[BadCell]]:
    if len(cells) > len(header) and any(cell.strip() for cell in cells[len(header) :]):
        text = f"the row has {len(cells)} cells, but the first line names {len(header)} columns"
        return RosterLine(number, {}), [BadCell(number, "", text)]
    values: dict[str, str] = {}
    problems = []
    for place, column in enumerate(columns):
        if column is None:
            continue
        value = " ".join(cells[place].split()) if place < len(cells) else ""
        if len(value) > _LENGTHS[column]:
            problems.append(BadCell(number, header[place], f"longer than {_LENGTHS[column]} characters"))
        elif not _printable(value, column) or "\ufffd" in value:
            problems.append(BadCell(number, header[place], "contains characters that cannot be printed"))
        values[column] = value
    if "@" in (login := values.pop(_LOGIN, "")):
        values[EMAIL] = login
    first, last = values.pop(_FIRST, None), values.pop(_LAST, None)
    if FULL_NAME not in values and (first is not None or last is not None):
        values[FULL_NAME] = " ".join(name for name in (first, last) if name)[: limits.TITLE_CHARS]
    if not any(values.get(column) for column in (EMAIL, NUMBER, ACCOUNT)):
        problems.append(BadCell(number, "", "the row has no e-mail address, student number or account"))
    return RosterLine(number, values), problems


def _printable(value: str, column: str) -> bool:
    if column in (FULL_NAME, _FIRST, _LAST):
        value = re.sub(rf"(?<=[^\s{_JOINERS}])[{_JOINERS}](?=[^\s{_JOINERS}])", "", value)
    return value.isprintable()
