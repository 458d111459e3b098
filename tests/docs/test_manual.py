"""Reading pages from the folder: order, sections, anchors, search."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.errors import NotFound
from grader.manual.pages import Manual, Page, manual
from grader.manual.search import readable, search
from grader.manual.sections import split

INDEX = "# Docs\n\n## For students\n\n- [One](one.md): the first\n- [Two](deep/two.md): the `second`\n"
ONE = (
    "# One\n\nGates are closed.\n\n## Gate\n\nOnce. Twice.\n\n```sh\n# no heading\n```\n\n## Gate\n\nAgain.\n"
)
TWO = "# Two\n\n## What `check` reports\n\n| word | meaning |\n| --- | --- |\n| `gate` | a page |\n"


@pytest.fixture
def small(tmp_path: Path) -> Manual:
    (tmp_path / "deep").mkdir()
    for name, text in {"index": INDEX, "one": ONE, "deep/two": TWO, "loose": "# Loose\n"}.items():
        (tmp_path / f"{name}.md").write_text(text)
    return Manual(tmp_path)


def test_every_file_of_the_folder_is_a_page(docs: Manual) -> None:
    files = {str(path.relative_to(docs.folder).with_suffix("")) for path in docs.folder.rglob("*.md")}
    assert {page.name for page in docs.pages} == files


def test_the_index_orders_pages_by_role(small: Manual) -> None:
    assert [page.name for page in small.pages] == ["index", "one", "deep/two"]
    (role,) = small.roles
    assert role.title == "For students"
    assert [page.about for page in role.pages] == ["the first", "the second"]
    one, two = role.pages
    assert small.beside(one) == (small.index, two)
    assert small.beside(two) == (one, None)


def test_a_file_missing_from_the_index_is_no_page(small: Manual) -> None:
    assert not small.has("loose")
    with pytest.raises(NotFound):
        small.page("../loose")


def test_sections_end_at_headings_and_not_in_code(small: Manual) -> None:
    title, first, second = small.page("one").sections
    assert (title.level, title.anchor) == (1, "one")
    assert "# no heading" in first.text
    assert (first.anchor, second.anchor, second.text.strip()) == ("gate", "gate-1", "Again.")


@pytest.mark.parametrize(
    ("heading", "title", "anchor"),
    [
        ("## What `check` reports", "What check reports", "what-check-reports"),
        ("### GET /api/v1/submissions/{id}", "GET /api/v1/submissions/{id}", "get-apiv1submissionsid"),
        ("## [Linked](x.md) word ##", "Linked word", "linked-word"),
        ("## snake_case: a thing", "snake_case: a thing", "snake_case-a-thing"),
    ],
)
def test_anchors_match_githubs(heading: str, title: str, anchor: str) -> None:
    (section,) = split(heading)
    assert (section.title, section.anchor) == (title, anchor)


def test_a_code_fence_ends_with_one_of_the_same_length(small: Manual) -> None:
    inner = "````\n```toml\n# inside\n```\n# inside, too\n````\n# After\n"
    assert [section.title for section in split(inner)] == ["After"]


def test_search_finds_headings_first_and_marks_the_words(small: Manual) -> None:
    hits = search(small, "GATE")
    assert [(hit.page.name, hit.section.title) for hit in hits] == [
        ("one", "Gate"),
        ("one", "Gate"),
        ("one", "One"),
        ("deep/two", "What check reports"),
    ]
    assert ("Gate", True) in hits[2].excerpt
    assert "".join(text for text, _ in hits[3].excerpt) == "word meaning gate a page"


def test_excerpts_hold_no_markup() -> None:
    text = "Press <kbd>Ctrl</kbd>, *then* see [here](x.md): `a<b>(c)`.\n\n```sh\nls\n```\n"
    assert readable(text) == "Press Ctrl, then see here: a<b>(c). ls"


@pytest.mark.parametrize(
    ("query", "heading"),
    [
        ("coalescing", "Coalescing"),
        ("bank conflicts", "Bank conflict"),
        ("occupancy", "Occupancy"),
        ("warp divergence", "Warp divergence"),
        ("infinite loop", "Infinite loop"),
        ("race", "Race"),
        ("spills", "Spill"),
    ],
)
def test_search_for_a_term_finds_its_explanation_first(docs: Manual, query: str, heading: str) -> None:
    best = search(docs, query)[0]
    assert (best.page.title, best.section.title) == ("Glossary", heading)


def test_search_requires_every_word(small: Manual) -> None:
    assert [hit.section.text.strip() for hit in search(small, "gate again")] == ["Again."]
    assert search(small, "gate nowhere") == []
    assert search(small, "  ") == []


def test_search_accepts_any_text(small: Manual) -> None:
    for query in ["(", "[a-", "\\", "*" * 500, "\x00", "ß é"]:
        assert search(small, query) == []


def test_excerpts_begin_and_end_at_words(docs: Manual) -> None:
    hits = search(docs, "gate")
    assert hits
    for hit in hits:
        text = "".join(piece for piece, _ in hit.excerpt).removeprefix("… ").removesuffix(" …")
        assert f" {text} " in f" {readable(hit.section.text)} "
        assert len(text) < 400


def test_an_unknown_page_suggests_similar_ones(small: Manual) -> None:
    assert [page.name for page in small.close_to("tow")] == ["deep/two"]
    assert [page.name for page in small.close_to("two.md")] == ["deep/two"]
    assert small.close_to("quite another thing") == []


@pytest.mark.parametrize(
    "page", [page for page in manual().pages if "/" not in page.name], ids=lambda page: page.name
)
def test_a_guide_has_an_introduction_before_its_first_table(page: Page) -> None:
    prose = page.text.partition("\n|")[0]
    assert len(prose.split()) >= 60
