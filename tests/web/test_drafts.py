"""Drafts in the API, and on the page of a challenge."""

from __future__ import annotations

import html
import json
import re

import pytest

from grader import limits
from grader.schemas.draft import DraftView
from grader.schemas.submission import SubmissionView
from grader.service.accounts import tokens
from grader.service.accounts.accounts import User
from grader.service.platform import Platform
from grader.service.submissions import diagnostics
from grader.web.throttle import limiter
from tests.web import builders
from tests.web.conftest import Visit, csrf
from tests.web.refusals import API, refused

PAGE = f"/challenges/{builders.SLUG}"
DRAFT = f"{API}/drafts/{builders.SLUG}/triton"
BAD = "import triton\n\n\ndef solve(a, b, out, n):\n    x = = 3\n"
SAID = "SyntaxError in line 5: invalid syntax"


def area(page: str, language: str = "triton") -> tuple[dict[str, str], str]:
    found = re.search(rf'<textarea (name="source-{language}"[^>]*)>\n(.*?)</textarea>', page, re.S)
    assert found
    given = {name: html.unescape(value) for name, value in re.findall(r'([\w-]+)="([^"]*)"', found[1])}
    return given, html.unescape(found[2])


def not_compiled(platform: Platform, user: User, source: str = BAD) -> SubmissionView:
    return builders.judged(
        platform, user, builders.not_compiled(SAID).model_copy(update={"detail": SAID}), source=source
    )


class TestApi:
    def test_put_get_delete(self, call: Visit, ada: User, bob: User) -> None:
        client = call(ada)
        put = DraftView.model_validate_json(client.put(DRAFT, json={"source": "x = 1\n"}).data)
        assert DraftView.model_validate_json(client.get(DRAFT).data) == put
        assert (put.challenge, put.language, put.bytes) == (builders.SLUG, "triton", 6)
        assert call(bob).get(DRAFT).status_code == 404
        assert client.delete(DRAFT).status_code == 204
        assert client.get(DRAFT).status_code == 404

    def test_a_draft_changed_elsewhere_is_a_409(self, call: Visit, ada: User) -> None:
        client = call(ada)
        first = client.put(DRAFT, json={"source": "x = 1"}).json
        assert first
        body = {"source": "x = 2", "based_on": first["updated_at"]}
        assert client.put(DRAFT, json=body).status_code == 200
        refused(client.put(DRAFT, json=body), 409, "draft_changed")
        assert client.get(DRAFT).json["source"] == "x = 2"  # type: ignore[index]

    @pytest.mark.parametrize(
        ("path", "body", "expected"),
        [
            (DRAFT, {"source": "x" * (limits.SOURCE_BYTES + 1)}, (400, "bad_source")),
            (DRAFT, {"source": "x\0"}, (400, "bad_source")),
            (DRAFT, {"source": "x", "more": 1}, (400, "bad_request")),
            (DRAFT, {}, (400, "bad_request")),
            (f"{API}/drafts/{builders.SLUG}/perl", {"source": "x"}, (400, "unknown_language")),
            (f"{API}/drafts/nothing/triton", {"source": "x"}, (404, "unknown_challenge")),
        ],
    )
    def test_bad_drafts_are_refused(
        self, call: Visit, ada: User, path: str, body: dict[str, str], expected: tuple[int, str]
    ) -> None:
        refused(call(ada).put(path, json=body), *expected)

    def test_a_page_saves_drafts_only_with_its_forms_token(self, visit: Visit, ada: User) -> None:
        client = visit(ada)
        for method in ("PUT", "DELETE"):
            refused(client.open(DRAFT, method=method, json={"source": "x"}), 403, "csrf")
        headers = {"X-CSRFToken": csrf(client, PAGE)}
        assert client.put(DRAFT, json={"source": "x"}, headers=headers).status_code == 200
        assert client.delete(DRAFT, headers=headers).status_code == 204

    def test_after_the_session_saving_asks_to_sign_in(
        self, visit: Visit, platform: Platform, ada: User
    ) -> None:
        client = visit(ada)
        headers = {"X-CSRFToken": csrf(client, PAGE)}
        tokens.end_sessions(platform, ada, "")
        for _ in range(2):  # the first answer takes the cookie away
            refused(client.put(DRAFT, json={"source": "x"}, headers=headers), 401, "not_signed_in")

    def test_too_many_saves_are_refused(self, call: Visit, ada: User, bob: User) -> None:
        limiter.reset()
        client = call(ada)
        statuses = [
            client.put(DRAFT, json={"source": "x"}).status_code for _ in range(limits.DRAFTS_PER_MINUTE + 1)
        ]
        assert statuses.count(200) == limits.DRAFTS_PER_MINUTE
        assert statuses[-1] == 429
        assert call(bob).put(DRAFT, json={"source": "x"}).status_code == 200
        limiter.reset()


class TestPage:
    def test_visitors_get_the_starter(self, visit: Visit) -> None:
        given, text = area(visit(None).get(PAGE).text)
        assert "def solve(" in text
        assert given["data-starter"] == text
        assert given["data-kept"] == ""

    def test_the_editor_shows_the_users_draft_and_its_time(
        self, visit: Visit, call: Visit, ada: User, bob: User
    ) -> None:
        evil = "x = '</textarea><script>alert(1)</script>'\n"
        kept = call(ada).put(DRAFT, json={"source": evil}).json
        assert kept
        page = visit(ada).get(PAGE).text
        given, text = area(page)
        assert text == evil
        assert given["data-kept"] == kept["updated_at"]
        assert "def solve(" in given["data-starter"]
        assert "<script>alert" not in page
        assert area(visit(bob).get(PAGE).text)[0]["data-kept"] == ""

    def test_a_refused_source_is_shown_instead_of_the_draft(
        self, visit: Visit, call: Visit, ada: User
    ) -> None:
        call(ada).put(DRAFT, json={"source": "# a draft"})
        client = visit(ada)
        form = {"csrf_token": csrf(client, PAGE), "language": "triton", "source-triton": " "}
        page = client.post(PAGE, data=form).text
        assert area(page)[1] == " "
        assert "data-refused" in page

    def test_buttons_have_labels_and_shortcuts(self, visit: Visit, ada: User) -> None:
        page = visit(ada).get(PAGE).text
        for value, keys in [("run", "Control+Enter"), ("submit", "Control+Shift+Enter")]:
            assert re.search(rf'name="action" value="{value}" aria-keyshortcuts="{re.escape(keys)} ', page)
        assert 'name="action"' not in visit(None).get(PAGE).text

    def test_the_divider_is_accessible(self, visit: Visit) -> None:
        page = visit(None).get(PAGE).text
        found = re.search(r'<div class="divider"[^>]*>', page)
        assert found
        for part in ('role="separator"', 'tabindex="0"', 'aria-controls="about"', 'aria-valuenow="45"'):
            assert part in found[0]
        assert 'id="about"' in page


class TestMessages:
    def told(self, page: str) -> dict[str, object] | None:
        found = re.search(r'data-diagnostics="([^"]*)"', page)
        return json.loads(html.unescape(found[1])) if found else None

    def test_messages_of_the_last_submission_are_at_their_lines(
        self, visit: Visit, platform: Platform, ada: User
    ) -> None:
        view = not_compiled(platform, ada)
        page = visit(ada).get(PAGE).text
        told = self.told(page)
        assert told
        assert (told["submission"], told["language"]) == (view.id, "triton")
        (one,) = told["diagnostics"]  # type: ignore[misc]
        assert (one["line"], one["severity"], one["text"]) == (5, "error", "    x = = 3")
        assert "SyntaxError: invalid syntax" in page
        assert f'href="/submissions/{view.id}"' in page

    def test_fixed_messages_are_shown_only_on_request(
        self, visit: Visit, platform: Platform, ada: User
    ) -> None:
        view = not_compiled(platform, ada)
        builders.judged(platform, ada, builders.accepted())
        client = visit(ada)
        told = self.told(client.get(PAGE).text)
        assert told
        assert told["diagnostics"] == []
        named = self.told(client.get(f"{PAGE}?from={view.id}").text)
        assert named
        assert named["submission"] == view.id
        assert len(named["diagnostics"]) == 1  # type: ignore[arg-type]

    @pytest.mark.parametrize("wanted", ["{theirs}", "0000000000", ""])
    def test_others_messages_are_not_shown(
        self, visit: Visit, platform: Platform, ada: User, bob: User, wanted: str
    ) -> None:
        theirs = not_compiled(platform, ada).id
        page = visit(bob).get(f"{PAGE}?from={wanted.format(theirs=theirs)}")
        assert page.status_code == 200
        assert self.told(page.text) is None
        assert "x = = 3" not in page.text

    def test_messages_of_another_challenge_are_not_shown(
        self, visit: Visit, platform: Platform, ada: User
    ) -> None:
        view = not_compiled(platform, ada)
        assert self.told(visit(ada).get(f"/challenges/saxpy?from={view.id}").text) is None

    def test_the_api_returns_messages_to_their_author(
        self, call: Visit, platform: Platform, ada: User, bob: User
    ) -> None:
        view = not_compiled(platform, ada)
        path = f"{API}/submissions/{view.id}/diagnostics"
        assert call(ada).get(path).json == diagnostics.of_submission(platform, ada, view.id).model_dump()
        assert call(bob).get(path).status_code == 404

    def test_a_waiting_submission_has_no_messages(
        self, call: Visit, visit: Visit, platform: Platform, ada: User
    ) -> None:
        view = builders.hand_in(platform, ada)
        assert call(ada).get(f"{API}/submissions/{view.id}/diagnostics").json["diagnostics"] == []  # type: ignore[index]
        assert self.told(visit(ada).get(PAGE).text) is None
