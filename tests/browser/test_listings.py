"""Sources on result pages and differences: the browser highlights them, or they stay plain text."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.browser.conftest import Visit
from tests.browser.furnished import Site
from tests.web import builders


def test_syntax_is_highlighted(visit: Visit, site: Site) -> None:
    source = '"""On\nand on <b>."""\nimport triton\n'
    builders.judged(site.platform, site.ada, builders.accepted(), source=source)
    changed = source.replace("import", "from")
    view = builders.judged(site.platform, site.ada, builders.accepted(), source=changed)
    page = visit("ada").go(f"/submissions/{view.id}")
    expect(page.locator("#source .tok-keyword")).to_have_text(["from"])
    expect(page.locator("#source .tok-string")).to_have_text(['"""On', 'and on <b>."""'])
    assert page.locator("#source").inner_text() == changed.rstrip("\n")
    page.goto(f"{site.url}/submissions/{view.id}/diff")
    expect(page.locator(".changed .tok-keyword")).to_have_text(["import", "from"])
    expect(page.locator(".same .after .tok-string")).to_have_text(['"""On', 'and on <b>."""'])


def test_a_source_too_hard_to_parse_stays_plain(visit: Visit, site: Site) -> None:
    source = "# one\n" + '"\\N{' * 60_000
    view = builders.judged(site.platform, site.ada, builders.not_compiled(), source=source)
    page = visit("ada").go(f"/submissions/{view.id}")
    page.get_by_role("button", name="Theme").click()  # it answers
    assert page.locator("#source").text_content() == source
