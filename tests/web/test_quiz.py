"""Questions on a kernel, by page and API: no answer is sent before its question is settled."""

from __future__ import annotations

from grader.schemas.submission import SubmissionView
from grader.service.accounts.accounts import User
from grader.service.platform import Platform
from tests.service.submissions.test_quiz import ANSWER, ask, question
from tests.web.conftest import Visit, csrf


def test_the_page_asks_and_marks(platform: Platform, ada: User, seen: SubmissionView, visit: Visit) -> None:
    ask(platform, seen.id, question(), question(text="How many blocks <b>are launched</b>?", answer=5))
    browser, page = visit(ada), f"/submissions/{seen.id}"

    def answer(text: str, number: int = 1) -> str:
        data = {"answer": text, "csrf_token": csrf(browser, page)}
        found = browser.post(f"{page}/quiz/{number}", data=data)
        return found.text if found.status_code != 303 else browser.get(page).text

    html = browser.get(page).text
    assert "Questions on your kernel" in html
    assert "when it reads <code>x</code> in line 3?" in html
    assert "&lt;b&gt;" in html
    assert str(ANSWER) not in html
    assert "is not a whole number" in answer("1.5")
    html = answer("7")
    assert "Not 7. 1 attempt left" in " ".join(html.split())
    assert f"{ANSWER:,}" not in html
    html = answer(f"{ANSWER:,}")
    assert f"It touched {ANSWER}." in html
    assert "1 of 2 right" in html


def test_the_api_answers_only_what_is_settled(
    platform: Platform, ada: User, bob: User, seen: SubmissionView, call: Visit
) -> None:
    ask(platform, seen.id)
    program, path = call(ada), f"/api/v1/submissions/{seen.id}/quiz"
    before = program.get(path)
    assert str(ANSWER) not in before.text
    assert before.json["questions"][0] | {"answer": None, "why": ""} == before.json["questions"][0]
    assert str(ANSWER) not in program.get(f"/api/v1/submissions/{seen.id}/report").text
    assert program.post(f"{path}/1", json={"answer": "8"}).status_code == 400
    after = program.post(f"{path}/1", json={"answer": ANSWER})
    assert (after.json["right"], after.json["questions"][0]["answer"]) == (1, ANSWER)
    assert program.post(f"{path}/1", json={"answer": ANSWER}).status_code == 409
    assert call(bob).get(path).status_code == 404
