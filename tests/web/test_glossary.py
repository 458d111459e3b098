"""Words of specs and reports that link to the glossary."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from flask import Flask

from grader.service.accounts.accounts import User
from grader.service.platform import Platform
from grader.web.pages import glossary
from tests.web import builders
from tests.web.conftest import Visit


@pytest.fixture
def database() -> str:
    """One is enough: no query differs."""
    return ""


@pytest.fixture
def served(app: Flask) -> Iterator[None]:
    with app.app_context():
        yield


def link(anchor: str, text: str) -> str:
    return f'<a href="/docs/glossary#{anchor}">{text}</a>'


@pytest.mark.usefixtures("served")
def test_each_word_is_linked_once_in_its_longest_form() -> None:
    said = glossary.explained("Bank conflicts: a warp reads one bank. A bank conflict of a warp <b> costs.")
    bank, warp = link("bank-conflict", "Bank conflicts"), link("warp", "warp")
    assert said == f"{bank}: a {warp} reads one bank. A bank conflict of a warp &lt;b&gt; costs."


@pytest.mark.usefixtures("served")
def test_names_paths_and_links_stay() -> None:
    for text in ("warp_size", "/docs/warp", "my.race", "unspilled", "L2-norm"):
        assert glossary.explained(text) == text
    linked = 'See <a href="/docs/warp">the warp</a>'
    assert glossary.explained(glossary.Markup(linked)) == linked


@pytest.mark.usefixtures("served")
def test_a_spec_links_its_text_but_neither_headings_nor_code() -> None:
    html = glossary.spec(
        "# Warps\n\nA `warp` is coalesced, so <b>coalesced</b>; [a race](https://x.org/) is not."
    )
    assert html.count("/docs/glossary") == 1
    assert 'is <a href="/docs/glossary#coalescing"' in html


def test_the_pages_have_the_links(visit: Visit, platform: Platform, ada: User) -> None:
    spec = visit(None).get("/challenges/transpose").text
    assert "/docs/glossary#shared-memory" in spec
    view = builders.judged(platform, ada, builders.profiled())
    page = visit(ada).get(f"/submissions/{view.id}").text
    verdict = page.partition('aria-label="Verdict"')[2].partition("</section>")[0]
    assert link("warp", "warp") in verdict
