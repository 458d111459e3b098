"""Polling costs little: pages of lists, and a panel that did not change."""

from __future__ import annotations

import html
import re

import pytest

from grader.schemas.submission import SubmissionView
from grader.service.accounts.accounts import User
from grader.service.platform import Platform
from grader.web.pages import leaderboards as boards
from grader.web.pages import submissions as pages
from tests.web import builders
from tests.web.conftest import Visit


def test_an_unchanged_panel_is_not_rendered_again(
    visit: Visit, platform: Platform, ada: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = visit(ada)
    view = builders.hand_in(platform, ada)
    path = f"/submissions/{view.id}/panel"
    first = client.get(path)
    tag = first.headers["ETag"]
    made = []
    render = pages.render_template
    monkeypatch.setattr(pages, "render_template", lambda *a, **k: made.append(a) or render(*a, **k))
    same = client.get(path, headers={"If-None-Match": tag})
    assert (same.status_code, same.data, same.headers["ETag"], made) == (304, b"", tag, [])
    builders.take(platform)
    changed = client.get(path, headers={"If-None-Match": tag})
    assert (changed.status_code, len(made)) == (200, 1)
    assert changed.headers["ETag"] != tag


def test_panels_are_cached_by_user(visit: Visit, seen: SubmissionView, ada: User, teacher: User) -> None:
    path = f"/submissions/{seen.id}/panel"
    tag = visit(ada).get(path).headers["ETag"]
    assert visit(teacher).get(path, headers={"If-None-Match": tag}).status_code == 200


def test_a_panel_names_its_polling_interval(visit: Visit, platform: Platform, ada: User) -> None:
    view = builders.hand_in(platform, ada)
    assert 'data-pace="1000"' in visit(ada).get(f"/submissions/{view.id}/panel").text


def test_older_submissions_are_behind_a_link(
    visit: Visit, platform: Platform, ada: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages, "_PAGE", 2)
    ids = [builders.hand_in(platform, ada).id for _ in range(3)][::-1]
    client = visit(ada)
    newest = client.get("/submissions").text
    assert [each in newest for each in ids] == [True, True, False]
    assert "Newest" not in newest
    link = re.search(r'href="(/submissions\?older_than=[^"]+)">Older', newest)
    assert link
    older = client.get(link[1]).text
    assert [f"<code>{entry}</code>" in older for entry in ids] == [False, False, True]
    assert "Older" not in older
    assert '<a href="/submissions">Newest</a>' in older


def test_a_board_is_shown_in_pages(
    visit: Visit, platform: Platform, ada: User, bob: User, kim: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(boards, "_PAGE", 1)
    fast = builders.judged(platform, ada, builders.accepted(100.0))
    slow = builders.judged(platform, bob, builders.accepted(900.0))
    client = visit(kim)
    first = client.get(f"/leaderboards/{fast.challenge}").text
    assert ("ada" in first, "bob" in first, "First" in first) == (True, False, False)
    link = re.search(r'href="([^"]+below=1)">Further down', first)
    assert link
    second = client.get(html.unescape(link[1])).text
    assert ("ada" in second, "bob" in second, "Further down" in second) == (False, True, False)
    assert '<span class="rank r2">2</span>' in second
    whole = client.get(f"/api/v1/leaderboards/{slow.challenge}").json["entries"]
    part = client.get(f"/api/v1/leaderboards/{slow.challenge}?limit=1&offset=1").json["entries"]
    assert (len(whole), part) == (2, whole[1:])
