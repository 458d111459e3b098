"""`comment`: comments of staff on a submission, and its author's replies."""

from __future__ import annotations

import re
import sys
from typing import Annotated, Any

import typer
from rich.text import Text

from grader.cli import options
from grader.cli.client import Client, connect, segment, understood
from grader.cli.command import make_app
from grader.cli.terminal import moment, out, put_json, safe, say, tell
from grader.errors import BadRequest
from grader.schemas.feedback import CommentList, CommentView, ThreadView
from grader.schemas.submission import SubmissionView

app = make_app()

_LINES = re.compile(r"(\d{1,6})(?:-(\d{1,6}))?")
Number = Annotated[int | None, typer.Option(metavar="NUMBER", min=1)]


@app.command()
def comment(
    submission: options.Submission,
    text: Annotated[
        str | None,
        typer.Argument(
            metavar="[TEXT]",
            help="The comment, in Markdown; - reads it from stdin. None: show the comments.",
        ),
    ] = None,
    lines: Annotated[
        str | None,
        typer.Option(metavar="N[-M]", help="The lines that it refers to (default: the whole source)."),
    ] = None,
    draft: Annotated[bool, typer.Option("--draft", help="Show it only to staff until it is sent.")] = False,
    reply: Annotated[int | None, typer.Option(metavar="NUMBER", min=1, help="Reply to this thread.")] = None,
    edit: Annotated[
        int | None, typer.Option(metavar="NUMBER", min=1, help="Replace the text of this comment of yours.")
    ] = None,
    send: Annotated[
        int | None, typer.Option(metavar="NUMBER", min=1, help="Show this draft to the student.")
    ] = None,
    resolve: Annotated[int | None, typer.Option(metavar="NUMBER", min=1, help="Resolve this thread.")] = None,
    reopen: Annotated[
        int | None, typer.Option(metavar="NUMBER", min=1, help="Open this thread again.")
    ] = None,
    delete: Annotated[int | None, typer.Option(metavar="NUMBER", min=1, help="Delete this comment.")] = None,
    note: Annotated[
        str | None,
        typer.Option(
            metavar="TEXT",
            help="Write a private note on your own submission, in Markdown, which only you can read; '' removes it, "
            "- reads it from stdin.",
        ),
    ] = None,
    json: options.Json = False,
    server: options.Server = None,
) -> int:
    """Show the comments on a submission, or comment on it: write, reply, change or resolve; or write a note for
    yourself."""
    path = f"/submissions/{segment(submission)}/comments"
    acts = {"edit": edit, "send": send, "resolve": resolve, "reopen": reopen, "delete": delete}
    chosen = {name: number for name, number in acts.items() if number is not None}
    if note is not None:
        if text is not None or chosen or lines or draft or reply:
            raise BadRequest("--note excludes the other options.", "Write a comment with another command.")
        return _keep_note(submission, sys.stdin.read() if note == "-" else note, json)
    if len(chosen) > 1 or (chosen and (lines or draft or reply)):
        raise BadRequest(
            "These options exclude each other.", "Use one of --edit, --send, --resolve, --reopen, --delete."
        )
    if text is None and not chosen and not (lines or draft or reply):
        shown = fetch(connect(), submission)
        if json:
            put_json(shown)
        else:
            put_comments(shown)
        return 0
    said = sys.stdin.read() if text == "-" else text
    if not said and not chosen.keys() - {"edit"}:
        raise BadRequest(
            "The comment is empty.", "Write it after the submission, or - to read it from stdin."
        )
    client = connect()
    if chosen:
        ((name, number),) = chosen.items()
        answer = _act(client, f"{path}/{number}", name, said)
    else:
        body: dict[str, Any] = {"text": said, "draft": draft, "thread": reply}
        if lines is not None:
            body["first_line"], body["last_line"] = _range(lines)
        answer = client.post(path, body)
    found = understood(CommentList, answer)
    if json:
        put_json(found)
    else:
        put_comments(found)
    return 0


def _keep_note(submission: str, text: str, json: bool) -> int:
    answer = connect().put(f"/submissions/{segment(submission)}/note", {"text": text})
    view = understood(SubmissionView, answer)
    if json:
        put_json(view)
    else:
        say(f"The note on {view.id} is {'kept' if view.note else 'removed'}.", "green")
    return 0


def put_note(view: SubmissionView) -> None:
    if view.note:
        say("Your note:", "bold")
        tell("\n".join(f"    {line}" for line in view.note.split("\n")))


def _act(client: Client, path: str, name: str, text: str | None) -> Any:
    if name == "delete":
        return client.delete(path)
    body: dict[str, Any] = {"text": text} if text else {}
    if name == "send":
        body["send"] = True
    elif name != "edit":
        body["resolved"] = name == "resolve"
    return client.patch(path, body)


def _range(text: str) -> tuple[int, int]:
    found = _LINES.fullmatch(text.strip())
    if found is None:
        raise BadRequest(f"'{text[:20]}' is not a range of lines.", "Write 12, or 12-15.")
    first = int(found[1])
    return first, int(found[2] or first)


def fetch(client: Client, submission: str) -> CommentList:
    return understood(CommentList, client.get(f"/submissions/{segment(submission)}/comments"))


def put_comments(found: CommentList) -> None:
    if not found.threads:
        say(f"There are no comments on {found.submission}.", "dim")
        return
    if found.held:
        say("The student reads the staff's comments once the assignment's feedback is released.", "yellow")
    for thread in found.threads:
        out().print(_heading(thread))
        for each in thread.comments:
            out().print(_who(each, thread))
            tell("\n".join(f"    {line}" for line in each.text.split("\n")) if each.text else "    (deleted)")


def _heading(thread: ThreadView) -> Text:
    first, last = thread.first_line, thread.last_line
    where = (
        "the whole source"
        if first is None
        else f"line {first}"
        if first == last
        else f"lines {first} to {last}"
    )
    resolved = f", resolved by {thread.resolved_by}" if thread.resolved_at else ""
    return Text.assemble((f"{thread.number}", "bold cyan"), safe(f"  {where}{resolved}", "bold"))


def _who(comment: CommentView, thread: ThreadView) -> Text:
    marks = [word for word, holds in (("staff", comment.staff), ("draft", comment.draft)) if holds]
    marks += ["edited"] if comment.edited_at and not comment.deleted_at else []
    number = f"  {comment.number}" if comment.number != thread.number else ""
    at = moment(comment.created_at)
    return safe(
        f"  {comment.author or 'somebody'}{f' ({chr(44).join(marks)})' if marks else ''}, {at}{number}", "dim"
    )
