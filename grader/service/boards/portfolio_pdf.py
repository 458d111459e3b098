"""PDF by ReportLab (extra ``pdf``), the same bytes for the same portfolio. Characters that the font lacks come from
PDF readers' CJK fonts, or are code points."""

from __future__ import annotations

import io
import re
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import as_file, files
from importlib.util import find_spec
from itertools import groupby
from typing import Any

from grader import limits
from grader.errors import BadRequest, TooMany
from grader.schemas.portfolio import Portfolio, PortfolioEntry
from grader.service.boards.portfolio_text import facts, heading

_FONT_PACKAGE, _FONT_FILE = "fontpkg_jetbrains_mono", "JetBrainsMono[wght].ttf"
_FONT, _BOLD = "JetBrainsMono", "Helvetica-Bold"
# PDF readers bring these fonts.
_HAN, _HANGUL = "STSong-Light", "HYSMyeongJo-Medium"
_IN_HAN = re.compile(r"[\u2e80-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff00-\uffef]")
_IN_HANGUL = re.compile(r"[\u1100-\u11ff\u3130-\u318f\uac00-\ud7af]")
# A4, in points.
_WIDTH, _HEIGHT, _MARGIN = 595.28, 841.89, 50.0
_FOOT = 30.0
_TITLE, _HEADING, _TEXT, _SOURCE, _SMALL = 20.0, 14.0, 9.0, 7.6, 7.0
_LEADING = 1.35
# For line numbers.
_GUTTER = 30.0
_TAB = 4
_INDENT = 125.0

_turn = threading.BoundedSemaphore(limits.PORTFOLIOS_AT_ONCE)


def can_write() -> bool:
    return find_spec("reportlab") is not None and find_spec(_FONT_PACKAGE) is not None


def pdf(found: Portfolio) -> bytes:
    """Raises BadRequest without library or font, TooMany."""
    if not can_write():
        raise BadRequest(
            "This server cannot write PDF: ReportLab or its font is not installed.",
            "Take the Markdown, or ask its operator for the extra 'pdf' (pip install 'kernel-grader[pdf]').",
        )
    # Fonts are global: two documents at once would mix their characters.
    if not _turn.acquire(timeout=limits.PORTFOLIO_SECONDS):
        raise TooMany("Others are writing their portfolios.", "Try again in a moment.")
    try:
        return _Layout(found).written()
    finally:
        _turn.release()


@dataclass
class _Line:
    """Base line, from the lower left."""

    x: float
    y: float
    text: str
    size: float
    font: str = _FONT
    grey: bool = False


@dataclass
class _Page:
    lines: list[_Line] = field(default_factory=list)
    # Titles of kernels with their heights.
    marks: list[tuple[str, float]] = field(default_factory=list)


class _Layout:
    """Text is placed before drawing: each page shows the number of pages."""

    def __init__(self, found: Portfolio) -> None:
        self.name, self.about = f"Kernels of {found.user}", heading(found)
        self.pages = [_Page()]
        self.y = _HEIGHT - _MARGIN
        _register()
        self._put(self.name, _TITLE, font=_BOLD)
        self._put(self.about, _TEXT, grey=True)
        for entry in found.entries:
            self._entry(entry)

    def _entry(self, entry: PortfolioEntry) -> None:
        known = facts(entry)
        # Keeps headings with their facts.
        self._room(_HEADING * 2 + (len(known) + 4) * _TEXT * _LEADING)
        self.y -= _HEADING
        self.pages[-1].marks.append((entry.title, self.y + _HEADING))
        self._put(entry.title, _HEADING, font=_BOLD)
        for name, value in known:
            self._room(_TEXT * _LEADING)
            # On the value's line.
            self._at(_MARGIN, name, _TEXT, grey=True)
            self._put(value, _TEXT, x=_MARGIN + _INDENT)
        if entry.note:
            self.y -= _TEXT / 2
            self._put("Notes", _TEXT, font=_BOLD)
            for line in entry.note.split("\n"):
                self._put(line, _TEXT)
        self.y -= _TEXT / 2
        if not entry.source:
            self._put("The source was removed.", _TEXT, grey=True)
            return
        self._put(entry.filename, _SMALL, grey=True)
        for number, line in enumerate(_lines(entry.source), 1):
            for piece, part in enumerate(_cut(line, _SOURCE, _WIDTH - 2 * _MARGIN - _GUTTER)):
                self._room(_SOURCE * _LEADING)
                if piece == 0:
                    self._at(_MARGIN, f"{number:5d}", _SOURCE, grey=True)
                self._at(_MARGIN + _GUTTER, part, _SOURCE)
                self.y -= _SOURCE * _LEADING

    def _put(
        self, text: str, size: float, *, x: float = _MARGIN, font: str = _FONT, grey: bool = False
    ) -> None:
        for part in _cut(_shown(text), size, _WIDTH - _MARGIN - x, words=True, font=font):
            self._room(size * _LEADING)
            self._at(x, part, size, font=font, grey=grey)
            self.y -= size * _LEADING

    def _at(self, x: float, text: str, size: float, *, font: str = _FONT, grey: bool = False) -> None:
        self.pages[-1].lines.append(_Line(x, self.y - size, text, size, font, grey))

    def _room(self, height: float) -> None:
        """Begin a page if less than ``height`` is left."""
        if self.y - height < _MARGIN:
            self.pages.append(_Page())
            self.y = _HEIGHT - _MARGIN

    def written(self) -> bytes:
        from reportlab.pdfgen.canvas import Canvas

        out = io.BytesIO()
        canvas = Canvas(out, pagesize=(_WIDTH, _HEIGHT), invariant=1, pageCompression=1)
        canvas.setTitle(self.name)
        canvas.setAuthor(self.name.removeprefix("Kernels of "))
        canvas.setSubject(self.about)
        canvas.setCreator("grader")
        for number, page in enumerate(self.pages, 1):
            foot = _Line(
                _MARGIN, _FOOT, f"{self.name}, page {number} of {len(self.pages)}", _SMALL, grey=True
            )
            for line in [*page.lines, foot]:
                self._draw(canvas, line)
            for place, (title, height) in enumerate(page.marks):
                key = f"{number}.{place}"
                canvas.bookmarkPage(key, fit="XYZ", left=0, top=height, zoom=0)
                canvas.addOutlineEntry(title, key)
            canvas.showPage()
        canvas.save()
        return out.getvalue()

    def _draw(self, canvas: Any, line: _Line) -> None:
        text = canvas.beginText(line.x, line.y)
        text.setFillGray(0.4 if line.grey else 0.0)
        for font, part in _runs(line.text, line.font):
            text.setFont(font, line.size)
            text.textOut(part)
        canvas.drawText(text)


@cache
def _register() -> None:
    from reportlab.pdfbase import pdfmetrics
    from reportlab.pdfbase.cidfonts import UnicodeCIDFont
    from reportlab.pdfbase.ttfonts import TTFont

    with as_file(files(_FONT_PACKAGE) / "files" / _FONT_FILE) as path:
        pdfmetrics.registerFont(TTFont(_FONT, str(path)))
    pdfmetrics.registerFont(UnicodeCIDFont(_HAN))
    pdfmetrics.registerFont(UnicodeCIDFont(_HANGUL))


@cache
def _known() -> frozenset[int]:
    from reportlab.pdfbase import pdfmetrics

    return frozenset(pdfmetrics.getFont(_FONT).face.charToGlyph)


def _font_of(char: str, wanted: str) -> str:
    if wanted == _BOLD and char.isascii():
        return _BOLD
    if ord(char) in _known():
        return _FONT
    return _HANGUL if _IN_HANGUL.match(char) else _HAN


def _runs(text: str, font: str) -> Iterator[tuple[str, str]]:
    for name, part in groupby(text, lambda char: _font_of(char, font)):
        yield name, "".join(part)


def _shown(text: str) -> str:
    """Without control characters; code points replace characters that no font has."""
    return "".join(
        char
        if ord(char) in _known() or _IN_HAN.match(char) or _IN_HANGUL.match(char)
        else " "
        if char == "\t"
        else f"<U+{ord(char):04X}>"
        for char in text
    )


def _lines(source: str) -> list[str]:
    text = source.replace("\r\n", "\n").replace("\r", "\n").rstrip("\n")
    return [_shown(line.expandtabs(_TAB)) for line in text.split("\n")]


@cache
def _width_of(char: str, font: str) -> float:
    """In units of the font size."""
    from reportlab.pdfbase import pdfmetrics

    return float(pdfmetrics.stringWidth(char, _font_of(char, font), 1.0))


def _cut(text: str, size: float, width: float, words: bool = False, font: str = _FONT) -> list[str]:
    """``words``: cut at spaces if possible."""
    parts, begin, used, space = [], 0, 0.0, -1
    for place, char in enumerate(text):
        used += _width_of(char, font) * size
        if char == " ":
            space = place
        if used > width and place > begin:
            end = space + 1 if words and space > begin else place
            parts.append(text[begin:end].rstrip() if words else text[begin:end])
            begin, space = end, -1
            used = sum(_width_of(each, font) * size for each in text[begin : place + 1])
    return [*parts, text[begin:]]
