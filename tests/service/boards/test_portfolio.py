"""A person's kernels as one document: which they are, and that it tells nothing else."""

from __future__ import annotations

import re
import zlib
from datetime import UTC, date, datetime

import pytest

from grader import limits
from grader.errors import BadRequest
from grader.languages import Language
from grader.records.engine import writing
from grader.records.models import SubmissionRow
from grader.schemas.portfolio import Portfolio, PortfolioEntry
from grader.schemas.submission import NoteBody, SetAside
from grader.service.boards import portfolio_pdf
from grader.service.boards.portfolio import portfolio
from grader.service.boards.portfolio_pdf import pdf
from grader.service.boards.portfolio_text import markdown
from grader.service.boards.withdrawals import withdraw
from grader.service.platform import Platform
from grader.service.submissions.notes import keep_note
from tests.service.boards.rows import SLUG, enter, person


def name(platform: Platform, row: int) -> str:
    with platform.sessions() as session:
        return session.get_one(SubmissionRow, row).public_id


def test_the_best_of_each_challenge_is_in_it(platform: Platform) -> None:
    ada, bob = person(platform, "ada"), person(platform, "bob")
    enter(platform, bob, 5.0, source="of bob")
    slow, fast, gone, card = (
        name(platform, enter(platform, ada, time, hour=time, source=f"x = {time}", **more))
        for time, more in ((30.0, {}), (20.0, {}), (1.0, {}), (40.0, {"device": "h200"}))
    )
    void = name(platform, enter(platform, ada, 2.0, set_aside=SetAside.VOID))
    other = name(platform, enter(platform, ada, 7.0, challenge="only_cuda", language=Language.CUDA))
    unknown = name(platform, enter(platform, ada, 7.0, challenge="gone_for_long"))
    withdraw(platform, ada, gone)
    keep_note(platform, ada, card, NoteBody(text="On a card."))
    found = portfolio(platform, ada)
    # A card's time ranks above any other.
    assert [entry.submission for entry in found.entries] == [card, other, unknown]
    first, _, last = found.entries
    assert (first.title, first.time_us, first.speedup, first.rank, first.entries) == (
        "Scale",
        40.0,
        2.5,
        1,
        1,
    )
    assert (first.note, first.source, last.title) == ("On a card.", "x = 40.0", "gone_for_long")
    named = portfolio(platform, ada, [fast.upper(), slow, gone]).entries
    assert [(each.submission, each.rank, each.entries, each.withdrawn) for each in named] == [
        (slow, None, None, False),
        (fast, 2, 2, False),
        (gone, None, None, True),
    ]
    assert "bob" not in markdown(found) + found.model_dump_json()
    theirs = name(platform, enter(platform, bob, 6.0))
    for bad in (theirs, void, "nothing"):
        with pytest.raises(BadRequest, match=f"'{bad}' is not an accepted submission of yours"):
            portfolio(platform, ada, [bad])
    with writing(platform.sessions) as session:
        for row in session.query(SubmissionRow).filter_by(challenge=SLUG, user_id=ada.id):
            row.source = "x" * limits.PORTFOLIO_BYTES
    with pytest.raises(BadRequest, match=f"{limits.PORTFOLIO_BYTES:,} at most"):
        portfolio(platform, ada)


def made(source: str, note: str = "", count: int = 1) -> Portfolio:
    entry = PortfolioEntry(
        submission="0123456789",
        challenge=SLUG,
        title="Scale Σ",
        version=1,
        language=Language.CUDA,
        device="cpu",
        representative=False,
        time_us=12.5,
        ci_us=(12.0, 13.0),
        speedup=1.5,
        rank=3,
        entries=57,
        competition=False,
        withdrawn=False,
        submitted_at=datetime(2026, 11, 1, tzinfo=UTC),
        note=note,
        filename="scale.cu",
        source=source,
    )
    return Portfolio(user="ada", at=date(2026, 11, 29), entries=[entry] * count)


def test_no_source_or_note_ends_its_block_of_markdown() -> None:
    text = markdown(made("// ```\n// ````\n# No heading\n", "# No heading\n\n> said"))
    assert "\n`````cpp\n// ```\n// ````\n# No heading\n`````\n" in text
    assert "\n> # No heading\n>\n> > said\n" in text
    assert "- Rank: 3 of 57\n" in text
    assert "- Time: 12.5 µs ± 0.50 µs\n" in text
    assert re.findall("^#.*", text.partition("`````")[0], re.MULTILINE) == ["# Kernels of ada", "## Scale Σ"]


def drawn(document: bytes) -> bytes:
    return b"".join(
        zlib.decompress(stream)
        for stream in re.findall(
            rb"/Filter \[ /FlateDecode \].*?stream\r?\n(.*?)endstream", document, re.DOTALL
        )
    )


def test_a_pdf_takes_every_source_and_is_reproducible() -> None:
    pytest.importorskip("reportlab")
    source = "// zażółć Привет 你好 한국어 🚀\x0c\n\tint x;\r\n" + "y + " * 500 + "\n" + "line\n" * 300
    found = made(source, "你好 " * 300, count=2)
    document = pdf(found)
    assert document == pdf(found)
    assert document.startswith(b"%PDF-")
    pages = len(re.findall(rb"/Type /Page\b(?!s)", document))
    assert pages > 8
    # Selectable: characters, ż among them, are mapped to Unicode.
    assert b"/ToUnicode" in document
    assert b"<017C>" in drawn(document)
    assert document.count(b"/Title") >= 3


def test_each_line_of_a_pdf_fits_the_page() -> None:
    pytest.importorskip("reportlab")
    portfolio_pdf._register()
    for text in ("a" * 500, "word " * 90, "你" * 200, ""):
        for words in (False, True):
            parts = portfolio_pdf._cut(text, 9.0, 100.0, words=words)
            widths = [
                sum(portfolio_pdf._width_of(char, portfolio_pdf._FONT) for char in part) for part in parts
            ]
            assert max(widths) * 9.0 <= 100.0
            assert "".join(parts).replace(" ", "") == text.replace(" ", "")
    assert portfolio_pdf._lines("a\tb\r\nc 🚀\x0b\n") == ["a   b", "c <U+1F680><U+000B>"]


def test_without_the_library_the_reason_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(portfolio_pdf, "find_spec", lambda _: None)
    assert not portfolio_pdf.can_write()
    with pytest.raises(BadRequest, match="ReportLab or its font is not installed") as refused:
        pdf(made("x"))
    assert "'pdf'" in refused.value.hint
