"""`quiz`: questions on a kernel, shown and answered."""

from __future__ import annotations

import json

from grader.schemas.quiz import QuizView
from tests.cli.conftest import Cli
from tests.cli.stub import Stub

PATH = "/submissions/abc123/quiz"
OPEN = {
    "number": 1, "kind": "barrier", "text": "Which barrier could go?", "lines": [], "attempts": 1, "left": 1,
    "given": [], "right": None, "choices": [{"value": 17, "text": "Line 17"}, {"value": 0, "text": "None of them"}],
}  # fmt: skip
SETTLED = {
    "number": 2, "kind": "sectors", "text": "How many sectors of `x`?", "lines": [3], "choices": [], "attempts": 2,
    "left": 0, "given": [8, 9], "right": False, "answer": 1117, "why": "It touched 1,117 sectors.",
}  # fmt: skip


def told(*questions: dict[str, object]) -> dict[str, object]:
    body = {"submission": "abc123", "setting": "", "questions": questions, "right": 0, "may_answer": True}
    return QuizView.model_validate(body).model_dump(mode="json")


def test_questions_are_shown_and_answered(server: Stub, cli: Cli) -> None:
    server.answer(f"GET {PATH}", told(OPEN, SETTLED))
    ran = cli("quiz", "abc123")
    assert ran.code == 0
    for line in (
        "1. Which barrier could go?",
        "17: Line 17",
        "1 of 1 attempts left",
        "How many sectors of x?",
    ):
        assert line in ran.out
    assert "wrong: 1,117" in ran.out
    assert json.loads(cli("quiz", "abc123", "--json").out)["questions"][1]["answer"] == 1117
    server.answer(f"POST {PATH}/2", told(OPEN, SETTLED))
    assert "Which barrier" not in cli("quiz", "abc123", "2", "1,117").out
    assert "whole number" in cli("quiz", "abc123", "2", "1.5").err
    assert cli("quiz", "abc123", "2").code == 2
