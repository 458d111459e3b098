from __future__ import annotations

import base64
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from grader.cli import options
from grader.cli.catalogue import local_catalogue
from grader.cli.client import connect, segment, understood
from grader.cli.polling import until_done
from grader.cli.terminal import out, put_json, put_table, safe, say, tell
from grader.errors import EXIT_ACCEPTED, EXIT_NOT_ACCEPTED, BadRequest
from grader.schemas.affected import Affected
from grader.schemas.challenge import ChallengeDetail
from grader.schemas.proof import Status
from grader.schemas.upload import (
    CheckState,
    SpecBody,
    UploadBody,
    UploadDetail,
    UploadList,
    UploadView,
    UseBody,
)

_COLOURS = {CheckState.PROVEN: "green", CheckState.WEAK: "red", CheckState.BROKEN: "red"}
_STATUS_COLOURS = {Status.OK: "green", Status.WEAK: "yellow", Status.ERROR: "red", Status.SKIPPED: "dim"}
_LOOK_SECONDS = 2.0

Number = Annotated[
    int, typer.Argument(metavar="NUMBER", min=1, help="The upload, as `grader challenge uploads` numbers it.")
]
NoteOption = Annotated[str, typer.Option("--note", "-m", help="What changed, for other staff.")]


def register(challenge: typer.Typer) -> None:
    for command in (upload, uploads, findings, preview, archive, use, spec):
        challenge.command()(command)


def upload(
    what: Annotated[
        str,
        typer.Argument(metavar="SLUG|FILE.zip", help="A challenge of your course folder, or a ZIP archive."),
    ],
    note: NoteOption = "",
    wait: Annotated[
        bool,
        typer.Option(
            "--wait/--no-wait", help="Follow the check to its end; exit code 1 if the challenge is weak."
        ),
    ] = True,
    course: Annotated[
        str | None,
        typer.Option(
            metavar="COURSE",
            help="Make it a challenge of this course, which its members alone see; a ZIP may hold several.",
        ),
    ] = None,
    json: options.Json = False,
) -> int:
    """Upload a challenge to the server, where a worker checks it."""
    body = UploadBody(archive=base64.b64encode(_archive(what)), note=note)
    sent = {"archive": base64.b64encode(body.archive).decode(), "note": note}
    if course is None:
        views = [understood(UploadView, connect().post("/uploads", sent))]
    else:
        answer = connect().post(f"/courses/{segment(course)}/catalogue", sent)
        views = understood(UploadList, answer).uploads
    for view in views if not json else ():
        say(f"{view.challenge}: upload {view.number}, version {view.version}", "green")
    if len(views) > 1 and (json or not wait):
        if json:
            put_json(UploadList(uploads=views))
        return EXIT_ACCEPTED
    return max(_followed(view, wait, json) for view in views)


def _archive(what: str) -> bytes:
    """Raises BadRequest, UnknownChallenge, BadBundle."""
    path = Path(what)
    if path.suffix == ".zip":
        try:
            return path.read_bytes()
        except OSError as error:
            raise BadRequest(f"'{what}' cannot be read: {error.strerror}.") from error
    from grader.challenge import bundle

    return bundle.of_challenge(local_catalogue().load(what)).packed()


def _followed(view: UploadView, wait: bool, json: bool) -> int:
    if not wait:
        if json:
            put_json(view)
        return EXIT_ACCEPTED
    last = ""

    def pause(found: UploadDetail) -> float | None:
        nonlocal last
        now = found.upload
        if now.check.ended:
            return None
        progress = now.progress
        words = f"{progress.done} of {progress.total}: {progress.label}" if progress else now.check.value
        if words != last and not json:
            tell(words)
        last = words
        return _LOOK_SECONDS

    found = until_done(lambda: _detail(view.challenge, view.number), pause)
    if json:
        put_json(found)
    else:
        _put(found)
    return EXIT_ACCEPTED if found.upload.check is CheckState.PROVEN else EXIT_NOT_ACCEPTED


def _detail(slug: str, number: int) -> UploadDetail:
    return understood(UploadDetail, connect().get(f"/uploads/{segment(slug)}/{number}"))


def uploads(
    slug: Annotated[str | None, typer.Argument(metavar="[SLUG]", help="Only this challenge's.")] = None,
    json: options.Json = False,
) -> int:
    """List the uploads to the server, and the results of their checks."""
    path = "/uploads" if slug is None else f"/uploads/{segment(slug)}"
    found = understood(UploadList, connect().get(path))
    if json:
        put_json(found)
        return 0
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("challenge", "number", "version", "check", "in use", "by", "what changed"):
        table.add_column(name, justify="right" if name in ("number", "version") else "left")
    for each in found.uploads:
        table.add_row(
            safe(each.challenge),
            str(each.number),
            str(each.version),
            Text(each.check.value, _COLOURS.get(each.check, "yellow")),
            "yes" if each.in_use else "",
            safe(each.uploaded_by or ""),
            safe(each.note),
        )
    put_table(table)
    return 0


def findings(
    slug: options.Slug,
    number: Number,
    again: Annotated[bool, typer.Option("--again", help="Check it again, and follow the check.")] = False,
    stop: Annotated[bool, typer.Option("--stop", help="Stop its waiting or running check.")] = False,
    json: options.Json = False,
) -> int:
    """Show the findings of an upload's check, and what using it would change; exit code 1 unless it is proven."""
    if again and stop:
        raise BadRequest("--again and --stop exclude each other.", "Use one of them.")
    if stop:
        stopped = understood(UploadView, connect().post(f"/uploads/{segment(slug)}/{number}/stop"))
        if json:
            put_json(stopped)
        else:
            say(f"{slug}: the check of upload {number} is stopped", "yellow")
        return 0
    if again:
        view = understood(UploadView, connect().post(f"/uploads/{segment(slug)}/{number}/check"))
        return _followed(view, wait=True, json=json)
    return _followed(_detail(slug, number).upload, wait=True, json=json)


def preview(slug: options.Slug, number: Number, json: options.Json = False) -> int:
    """Show an upload as students would see it: spec, signature, cases, workloads."""
    from grader.cli.commands.challenges import put_detail

    found = understood(ChallengeDetail, connect().get(f"/uploads/{segment(slug)}/{number}/preview"))
    if json:
        put_json(found)
    else:
        put_detail(found)
    return 0


def archive(
    slug: options.Slug,
    number: Number,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="The ZIP (default: SLUG-NUMBER.zip)."),
    ] = None,
    json: options.Json = False,
) -> int:
    """Write an upload's files as a ZIP, with solutions, mutants and hidden cases."""
    file = output or Path(f"{slug}-{number}.zip")
    size = connect().download(f"/uploads/{segment(slug)}/{number}/archive", file)
    if json:
        put_json({"file": str(file), "bytes": size})
    else:
        say(f"Wrote {size} bytes to {file}.", "green")
    return 0


def use(
    slug: options.Slug,
    number: Annotated[
        int, typer.Argument(metavar="NUMBER", min=0, help="The upload; 0: the course's own folder again.")
    ],
    json: options.Json = False,
) -> int:
    """Use an upload as the challenge from now on: a new version, or an earlier one again."""
    if number == 0:
        left = understood(UploadList, connect().post(f"/uploads/{segment(slug)}/withdraw"))
        if json:
            put_json(left)
        else:
            say(f"{slug}: no upload is in use", "green")
        return 0
    body = UseBody().model_dump(mode="json")
    found = understood(UploadDetail, connect().post(f"/uploads/{segment(slug)}/{number}/use", body))
    if json:
        put_json(found)
    else:
        say(f"{slug}: upload {number}, version {found.upload.version}, is in use", "green")
    return 0


def spec(
    slug: options.Slug,
    file: Annotated[
        Path | None,
        typer.Argument(metavar="[FILE]", help="The new text (default: print the present one)."),
    ] = None,
    note: NoteOption = "",
    json: options.Json = False,
) -> int:
    """Print the server's spec.md of a challenge, or upload a new text of it."""
    if file is None:
        found = connect().get(f"/uploads/{segment(slug)}/spec")
        if json:
            out().print_json(data=found)
        else:
            out().print(safe(str(found["text"])), soft_wrap=True, end="")
        return 0
    try:
        body = SpecBody(text=file.read_text(encoding="utf-8"), note=note)
    except (OSError, UnicodeDecodeError) as error:
        raise BadRequest(f"'{file}' cannot be read as UTF-8: {error}.") from error
    answer = connect().put(f"/uploads/{segment(slug)}/spec", body.model_dump(mode="json"))
    view = understood(UploadView, answer)
    if json:
        put_json(view)
    else:
        say(f"{slug}: upload {view.number}. Use it: grader challenge use {slug} {view.number}", "green")
    return 0


def _put(found: UploadDetail) -> None:
    view = found.upload
    if view.error:
        out().print(safe(view.error, "red"), soft_wrap=True)
    for each in found.findings.checks if found.findings is not None else ():
        out().print(
            Text(f" {each.status.value:<5}", _STATUS_COLOURS[each.status]),
            safe(f"{each.name}: {each.summary}"),
        )
        for line in each.details:
            out().print(safe(f"         {line}"), soft_wrap=True)
    for line in found.spec if found.against else ():
        out().print(safe(line.rstrip("\n")), soft_wrap=True)
    for change in found.changes:
        out().print(safe(f" {change.kind:<8}{change.part} {change.name}".rstrip()))
    for sentence in found.means:
        if sentence:
            out().print(safe(sentence), soft_wrap=True)
    if found.affected is not None:
        _put_affected(found.affected)
    say(f"check: {view.check.value}", _COLOURS.get(view.check, "yellow"))


def _put_affected(found: Affected) -> None:
    lines = [f"{found.audience} People with submissions for it: {found.students}."]
    lines += [
        f"{each.course}/{each.assignment} ({each.phase}): {each.students} handed in"
        for each in found.assignments
    ]
    lines += [
        f"The board of {each.device}, version {each.version}, with {each.entries} entries begins empty again."
        for each in found.boards
    ]
    for line in (*lines, *found.points):
        out().print(safe(line), soft_wrap=True)
