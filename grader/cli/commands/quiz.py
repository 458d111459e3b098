"""`quiz`: questions on one's own accepted kernel."""

from __future__ import annotations

from typing import Annotated

import typer

from grader.cli import options
from grader.cli.client import connect, segment, understood
from grader.cli.command import make_app
from grader.cli.terminal import put_json, tell
from grader.errors import BadRequest
from grader.schemas.quiz import QuizQuestion, QuizView

app = make_app(remote=True)


@app.command()
def quiz(
    submission: options.Submission,
    number: Annotated[
        int | None,
        typer.Argument(metavar="[NUMBER]", min=1, help="The question to answer (default: show all)."),
    ] = None,
    answer: Annotated[
        str | None, typer.Argument(metavar="[ANSWER]", help="A number; of a choice, the value before it.")
    ] = None,
    json: options.Json = False,
) -> int:
    """Show the questions on an accepted kernel, or answer one."""
    path, client = f"/submissions/{segment(submission)}/quiz", connect()
    if number is None:
        found = understood(QuizView, client.get(path))
    elif answer is None:
        raise BadRequest("The answer is missing.", f"Write it: grader quiz {submission} {number} ANSWER.")
    else:
        found = understood(QuizView, client.post(f"{path}/{number}", {"answer": _whole(answer)}))
    if json:
        put_json(found)
        return 0
    if not found.questions:
        tell("There are no questions on this submission: they come with accepted ones on the emulated board.")
        return 0
    tell(f"{found.right} of {len(found.questions)} right. {_plain(found.setting)}", "bold")
    for question in found.questions:
        if number in (None, question.number):
            _show(question)
    return 0


def _whole(text: str) -> int:
    plain = text.strip().replace(",", "")
    if not plain.isascii() or not plain.isdigit():
        raise BadRequest(f"'{text[:40]}' is not a whole number.", "Write digits, such as 1021.")
    return int(plain[:19])


def _show(question: QuizQuestion) -> None:
    tell(f"{question.number}. {_plain(question.text)}")
    for choice in question.choices:
        tell(f"   {choice.value}: {_plain(choice.text)}")
    if question.right is None:
        tried = f" (not {', '.join(map(str, question.given))})" if question.given else ""
        tell(f"   {question.left} of {question.attempts} attempts left{tried}", "dim")
        return
    tell(
        f"   {'right' if question.right else 'wrong'}: {question.answer:,}",
        "green" if question.right else "red",
    )
    tell(f"   {_plain(question.why)}", "dim")


def _plain(text: str) -> str:
    return text.replace("`", "")
