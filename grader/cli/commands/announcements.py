"""`announcement` and `question`: announcements by staff, and questions of participants."""

from __future__ import annotations

from typing import Annotated

import typer

from grader.cli import options
from grader.cli.client import connect, segment, understood
from grader.cli.command import make_app
from grader.cli.terminal import moment, out, put_json, put_table, safe, say, table, tell
from grader.errors import NotFound
from grader.schemas.announcement import AnnouncementList, QuestionList

app = make_app(remote=True)
announcement = make_app(remote=True)
app.add_typer(announcement, name="announcement", help="Announce something to everybody.")
question = make_app(remote=True)
app.add_typer(question, name="question", help="Ask the staff, and answer.")

_COMPETITION = "competition:"
PlaceName = Annotated[str, typer.Argument(metavar="PLACE", help="A course, or `competition:NAME`.")]


@announcement.command(name="list")
def list_announcements(place: PlaceName, json: options.Json = False) -> int:
    """List the announcements, newest first."""
    return _announcements(connect().get(f"{_path(place)}/announcements"), json)


@announcement.command()
def make(
    place: PlaceName,
    title: Annotated[str, typer.Argument(metavar="TITLE", help="Its title.")],
    text: Annotated[str | None, typer.Option(help="The text, in Markdown.")] = None,
    assignment: Annotated[
        str | None, typer.Option(metavar="ASSIGNMENT", help="The assignment of the course that it is about.")
    ] = None,
    edit: Annotated[
        int | None,
        typer.Option(
            metavar="NUMBER",
            min=1,
            help="Change this announcement. Text and assignment stay if not given; nobody is notified again.",
        ),
    ] = None,
    json: options.Json = False,
) -> int:
    """Announce something, and notify everybody there."""
    client, path = connect(), f"{_path(place)}/announcements"
    if edit is None:
        body = {"title": title, "text": text or "", "assignment": assignment}
        return _announcements(client.post(path, body), json)
    made = understood(AnnouncementList, client.get(path)).announcements
    present = next((announcement for announcement in made if announcement.number == edit), None)
    if present is None:
        raise NotFound(
            f"There is no announcement {edit} here.", f"`grader announcement list {place}` shows them."
        )
    body = {
        "title": title,
        "text": present.text if text is None else text,
        "assignment": assignment or present.assignment,
    }
    return _announcements(client.put(f"{path}/{edit}", body), json)


@announcement.command()
def remove(
    place: PlaceName,
    number: Annotated[int, typer.Argument(metavar="NUMBER", min=1, help="The announcement.")],
    json: options.Json = False,
) -> int:
    """Remove an announcement."""
    return _announcements(connect().delete(f"{_path(place)}/announcements/{number}"), json)


@question.command(name="list")
def list_questions(place: PlaceName, json: options.Json = False) -> int:
    """List questions: staff see all; others see their own and those answered to everybody."""
    return _questions(connect().get(f"{_path(place)}/questions"), json)


@question.command()
def ask(
    place: PlaceName,
    text: Annotated[str, typer.Argument(metavar="TEXT", help="The question, in Markdown.")],
    about: Annotated[
        str | None, typer.Option(metavar="NAME", help="An assignment of the course, or a challenge.")
    ] = None,
    json: options.Json = False,
) -> int:
    """Ask the staff."""
    return _questions(connect().post(f"{_path(place)}/questions", {"text": text, "about": about}), json)


@question.command()
def answer(
    place: PlaceName,
    number: Annotated[int, typer.Argument(metavar="NUMBER", min=1, help="The question.")],
    text: Annotated[str, typer.Argument(metavar="TEXT", help="The answer, in Markdown.")],
    to_all: Annotated[
        bool, typer.Option("--to-all", help="Show it to everybody, without the name of who asked.")
    ] = False,
    json: options.Json = False,
) -> int:
    """Answer a question (staff only)."""
    body = {"answer": text, "to_all": to_all}
    return _questions(connect().put(f"{_path(place)}/questions/{number}", body), json)


def _path(place: str) -> str:
    if place.startswith(_COMPETITION):
        return f"/competitions/{segment(place.removeprefix(_COMPETITION))}"
    return f"/courses/{segment(place)}"


def _announcements(answer: object, json: bool) -> int:
    found = understood(AnnouncementList, answer)
    if json:
        put_json(found)
        return 0
    for each in found.announcements:
        about = f" about {each.assignment}" if each.assignment else ""
        out().print(safe(f"{each.number}  {each.title}", "bold"))
        out().print(safe(f"  {each.made_by or 'staff'}, {moment(each.created_at)}{about}", "dim"))
        if each.text:
            tell(each.text)
    if not found.announcements:
        say("There are no announcements.", "dim")
    return 0


def _questions(answer: object, json: bool) -> int:
    found = understood(QuestionList, answer)
    if json:
        put_json(found)
        return 0
    rows = table("number", "asked", "by", "about", "question", "answer", "to")
    for each in found.questions:
        to = "all" if each.to_all else "who asked" if each.answered_at else ""
        rows.add_row(
            str(each.number),
            moment(each.created_at),
            safe(each.asked_by or ""),
            safe(each.about or ""),
            safe(each.text),
            safe(each.answer),
            to,
        )
    put_table(rows)
    return 0
