"""The served docs are complete, public, without broken links, and cached by browsers."""

from __future__ import annotations

import posixpath
import re
from html import unescape
from urllib.parse import unquote, urlsplit

import pytest
from flask import Flask
from flask.testing import FlaskClient

from grader.manual.pages import Manual, manual

NAMES = [page.name for page in manual().pages]
TAG = re.compile(r"<(/?)([a-z0-9]+)([^>]*)>")


def address(name: str) -> str:
    return "/docs" if name == "index" else f"/docs/{name}"


def ids(html: str) -> list[str]:
    return [unescape(each) for each in re.findall(r'\bid="([^"]*)"', html)]


def hrefs(html: str) -> list[str]:
    return [unescape(each) for each in re.findall(r'<a\b[^>]*?\bhref="([^"]*)"', html)]


@pytest.mark.parametrize("name", NAMES)
def test_a_page_has_its_title_headings_and_place(client: FlaskClient, docs: Manual, name: str) -> None:
    answer = client.get(address(name))
    assert answer.status_code == 200
    page = docs.page(name)
    assert len(re.findall(r"<h1", answer.text)) == 1
    assert page.title in unescape(re.search(r"<h1>(.*?)</h1>", answer.text)[1])  # type: ignore[index]
    found = ids(answer.text)
    assert len(found) == len(set(found))
    assert {section.anchor for section in page.sections[1:]} <= set(found)
    assert 'aria-current="page"' in answer.text


@pytest.mark.parametrize("name", NAMES)
def test_every_link_and_anchor_leads_somewhere(client: FlaskClient, docs: Manual, name: str) -> None:
    html = client.get(address(name)).text
    broken = []
    for href in hrefs(html):
        parts = urlsplit(href)
        if parts.scheme in ("http", "https"):
            continue
        path = posixpath.normpath(
            posixpath.join(posixpath.dirname(address(name)), parts.path or address(name))
        )
        if not path.startswith("/docs"):
            continue
        target = (
            html
            if path == address(name)
            else client.get(path).text
            if client.get(path).status_code == 200
            else ""
        )
        if not target or (parts.fragment and unquote(parts.fragment) not in ids(target)):
            broken.append(href)
    assert broken == []


@pytest.mark.parametrize("name", NAMES)
def test_links_of_the_files_lead_to_existing_files(docs: Manual, name: str) -> None:
    page = docs.page(name)
    text = re.sub(r"^(`{3,}).*?^\1", "", page.text, flags=re.MULTILINE | re.DOTALL)
    for href in re.findall(r"(?<!`)\[[^\]]+\]\(([^)\s]+)\)", text):
        path, _, anchor = href.partition("#")
        if path.startswith("http"):
            continue
        target = (docs.folder / f"{name}.md").parent / path if path else docs.folder / f"{name}.md"
        assert target.is_file(), href
        linked = docs.page(str(target.resolve().relative_to(docs.folder.resolve()).with_suffix("")))
        assert not anchor or anchor in [section.anchor for section in linked.sections], href


def test_a_file_named_in_running_text_is_a_link(client: FlaskClient) -> None:
    page = client.get("/docs/architecture").text
    assert '<a href="/docs/verdicts" rel="noopener noreferrer"><code>docs/verdicts.md</code></a>' in page
    html = client.get("/docs/operating").text
    assert '<a href="/docs/alerts.yml" rel="noopener noreferrer"><code>docs/alerts.yml</code></a>' in html
    assert "grader_queue_wakeups" in html
    rules = client.get("/docs/alerts.yml")
    assert rules.status_code == 200
    assert rules.content_type.startswith("text/plain")


def test_code_is_highlighted_and_scrolling_parts_are_focusable(client: FlaskClient) -> None:
    html = client.get("/docs/first-kernel").text
    assert '<span class="k">def</span>' in html
    assert '<span class="kt">void</span>' in html
    assert "<pre>" not in html
    tables = client.get("/docs/verdicts").text
    assert tables.count("<table>") == tables.count('<div class="scroll" tabindex="0" role="group"') > 3


@pytest.mark.parametrize(
    ("asked", "leads"),
    [("/docs/judging.md", "/docs/judging"), ("/docs/index", "/docs"), ("/docs/judging/", "/docs/judging")],
)
def test_other_names_of_a_page_lead_to_it(client: FlaskClient, asked: str, leads: str) -> None:
    answer = client.get(asked)
    assert (answer.status_code, answer.location) == (301, leads)


def test_the_overview_works_with_and_without_a_slash(client: FlaskClient) -> None:
    assert client.get("/docs/").status_code == 200


def test_a_missing_page_suggests_similar_ones(client: FlaskClient) -> None:
    answer = client.get("/docs/judgin")
    assert answer.status_code == 404
    assert 'href="/docs/judging"' in answer.text.split("Did you mean")[1]
    strange = client.get("/docs/<script>alert(1)</script>")
    assert strange.status_code == 404
    assert "<script>alert" not in strange.text
    for outside in ("/docs/../pyproject.toml", "/docs/%2e%2e/README", "/docs//etc/passwd", "/docs/reference"):
        assert client.get(outside, follow_redirects=True).status_code == 404, outside


def test_search_works_without_script(client: FlaskClient) -> None:
    found = client.get("/docs/search?q=unwritten")
    assert 'href="/docs/verdicts#kinds-of-mismatch"' in found.text
    assert "<mark>unwritten</mark>" in found.text
    assert "No section has that word" in client.get("/docs/search?q=zzzzz").text
    harmless = client.get("/docs/search", query_string={"q": '"><script>x</script>'})
    assert "<script>x" not in harmless.text
    assert client.get("/docs/search").status_code == 200


def test_an_unchanged_page_is_not_sent_again(client: FlaskClient) -> None:
    first = client.get("/docs/judging")
    tag = first.headers["ETag"]
    assert client.get("/docs/judging", headers={"If-None-Match": tag}).status_code == 304
    assert client.get("/docs/verdicts", headers={"If-None-Match": tag}).status_code == 200
    assert client.get("/docs/judging").headers["ETag"] == tag
    assert first.headers["Cache-Control"] == "private, no-cache"


def test_pages_are_not_cached_across_sessions(app: Flask, client: FlaskClient) -> None:
    tag = client.get("/docs/judging").headers["ETag"]
    stranger = app.test_client()
    assert stranger.get("/docs/judging", headers={"If-None-Match": tag}).status_code == 200


def test_pages_have_no_inline_scripts(client: FlaskClient) -> None:
    for name in NAMES:
        html = client.get(address(name)).text
        for _, tag, attributes in TAG.findall(html):
            assert not re.search(r"\son\w+=|\sstyle=|javascript:", attributes), (name, tag, attributes)
            assert tag != "script" or "src=" in attributes or not attributes, (name, attributes)
