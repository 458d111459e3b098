"""Chapters: reading, answering, and what others see of it."""

from __future__ import annotations

from grader.service.accounts.accounts import User
from grader.service.platform import Platform
from tests.web import builders
from tests.web.conftest import Visit, csrf

PAGE = "/learn/threads_and_blocks"


def test_a_wrong_answer_gets_its_sentence_and_a_right_one_its_reason(
    platform: Platform, ada: User, bob: User, visit: Visit
) -> None:
    browser = visit(ada)

    def answer(text: str) -> str:
        data = {"answer": text, "csrf_token": csrf(browser, PAGE)}
        found = browser.post(f"{PAGE}/blocks", data=data)
        return found.text if found.status_code != 303 else browser.get(PAGE).text

    html = browser.get(PAGE).text
    assert "rounded up: 4 blocks" not in html
    assert html.count('<div class="picture"') == 4
    assert "is not a number" in answer("-4")
    assert "left out" in answer("3")
    assert "Not 77." in answer("77")
    assert "rounded up: 4 blocks" in answer("4")
    assert "1 of 3 exercises" in browser.get("/learn").text
    assert "0 of 3 exercises" in visit(bob).get("/learn").text
    assert "1 of 3 exercises" in " ".join(browser.get("/progress").text.split())
    assert visit(None).get(PAGE).status_code == 200


def test_a_kernel_counts_once_its_challenge_is_solved(platform: Platform, ada: User, visit: Visit) -> None:
    browser = visit(ada)
    assert 'action="/challenges/vector_add"' in browser.get(PAGE).text
    builders.judged(platform, ada, builders.accepted())
    assert "1 of 3 exercises" in browser.get("/learn").text


def test_unknown_chapters_and_exercises(platform: Platform, ada: User, visit: Visit) -> None:
    browser = visit(ada)
    assert browser.get("/learn/nothing").status_code == 404
    token = csrf(browser, PAGE)
    assert browser.post(f"{PAGE}/nothing", data={"answer": "1", "csrf_token": token}).status_code == 404
    refused = browser.post(f"{PAGE}/guard", data={"answer": "1", "csrf_token": token})
    assert refused.status_code == 400
    assert visit(None).post(f"{PAGE}/blocks", data={"answer": "4"}).status_code in {302, 303, 400, 401, 403}
