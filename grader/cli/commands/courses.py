"""`course` and `roster`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from rich.table import Table

from grader import roster_file, spreadsheet
from grader.cli import options
from grader.cli.client import connect, segment, understood
from grader.cli.command import make_app
from grader.cli.course_catalogue import catalogue
from grader.cli.operations import put_log
from grader.cli.terminal import moment, put_json, put_table, safe, say, tell, write
from grader.errors import BadRequest, NotFound
from grader.schemas.course import (
    AuditLog,
    CourseChange,
    CourseList,
    CourseView,
    InvitationOrder,
    InvitationSheet,
    JoinCodeBody,
    JoinCodeList,
    JoinCodeView,
    MemberChange,
    OwnGroup,
    PersonalLink,
    Roster,
    RosterBody,
    RosterResult,
    Visibility,
)

app = make_app(remote=True)
course = make_app(remote=True)
app.add_typer(course, name="course", help="Run courses.")
roster = make_app(remote=True)
app.add_typer(roster, name="roster", help="Manage who is in a course.")

course.command()(catalogue)

CourseArgument = Annotated[
    str, typer.Argument(metavar="COURSE", help="The course, as `grader course list` names it.")
]
Name = Annotated[str, typer.Argument(metavar="NAME", help="The account's name.")]
Section = Annotated[str | None, typer.Option(metavar="NAME", help="Only this section.")]
Days = Annotated[int, typer.Option(min=1, max=180, help="How many days it works.")]


@course.command(name="list")
def list_courses(json: options.Json = False) -> int:
    """List your courses, and those that are listed for everyone."""
    found = understood(CourseList, connect().get("/courses"))
    if json:
        put_json(found)
        return 0
    table = _table("course", "name", "term", "you are", "taught by")
    for each in found.courses:
        role = each.role.value if each.role else ""
        table.add_row(
            safe(each.slug, "cyan"), safe(each.name), safe(each.term), role, safe(", ".join(each.staff))
        )
    put_table(table)
    return 0


@course.command()
def create(
    slug: Annotated[str, typer.Argument(metavar="COURSE", help="Its name in addresses, such as gpu-2026.")],
    name: Annotated[str, typer.Argument(metavar="NAME", help="What people call it.")],
    term: Annotated[str, typer.Option(help="Such as 'Autumn 2026'.")] = "",
    zone: Annotated[
        str, typer.Option(metavar="ZONE", help="The time zone of its deadlines, such as Europe/Berlin.")
    ] = "UTC",
    listed: Annotated[bool, typer.Option("--listed", help="List it for everyone who is signed in.")] = False,
    grace_days: Annotated[
        int,
        typer.Option(
            min=0, max=365, help="Late days without a penalty for each student, in the whole course."
        ),
    ] = 0,
    plan: Annotated[
        str,
        typer.Option(
            "--from",
            metavar="PLAN",
            help="A plan of the catalogue, such as twelve-weeks: makes its assignments as drafts.",
        ),
    ] = "",
    first_day: Annotated[
        str,
        typer.Option("--first-day", metavar="DATE", help="The first day of the plan, such as 2027-02-01."),
    ] = "",
    json: options.Json = False,
) -> int:
    """Create a course that you own (staff only)."""
    body = {
        "slug": slug,
        "name": name,
        "term": term,
        "time_zone": zone,
        "visibility": (Visibility.LISTED if listed else Visibility.MEMBERS).value,
        "grace_days": grace_days,
        "plan": plan,
        "first_day": first_day or None,
    }
    return _show_course(understood(CourseView, connect().post("/courses", body)), json)


@course.command()
def show(slug: CourseArgument, json: options.Json = False) -> int:
    """Show a course, its staff and the number of its students."""
    return _show_course(understood(CourseView, connect().get(f"/courses/{segment(slug)}")), json)


@course.command()
def edit(
    slug: CourseArgument,
    name: Annotated[str | None, typer.Option(help="Another name.")] = None,
    term: Annotated[str | None, typer.Option(help="Another term.")] = None,
    zone: Annotated[str | None, typer.Option(metavar="ZONE", help="Another time zone.")] = None,
    listed: Annotated[
        bool | None,
        typer.Option("--listed/--unlisted", help="List it for everyone who is signed in, or not."),
    ] = None,
    discussion: Annotated[
        bool | None,
        typer.Option(
            "--discussion/--no-discussion",
            help="Let students discuss chapters and the challenges of its assignments, or not.",
        ),
    ] = None,
    grace_days: Annotated[
        int | None, typer.Option(min=0, max=365, help="Grace days of each student.")
    ] = None,
    category: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=WEIGHT[:DROP]",
            help="A category of the total, and how many of its lowest are dropped; `none` for none. Repeatable.",
        ),
    ] = None,
    drop: Annotated[
        int | None,
        typer.Option(min=0, max=50, help="Without categories: how many of the lowest are dropped."),
    ] = None,
    scale: Annotated[
        float | None,
        typer.Option(min=0, help="What the course is worth; 0: the sum of the points, with categories 100."),
    ] = None,
    override_percent: Annotated[
        str | None,
        typer.Option(
            metavar="PERCENT|none", help="The most that points by staff may reach, of a challenge's."
        ),
    ] = None,
    archived: Annotated[
        bool | None,
        typer.Option("--archive/--reopen", help="An archived course can be read, but not changed."),
    ] = None,
    json: options.Json = False,
) -> int:
    """Change the given settings of a course; the others stay."""
    visibility = None if listed is None else Visibility.LISTED if listed else Visibility.MEMBERS
    change = CourseChange(
        name=name,
        term=term,
        time_zone=zone,
        visibility=visibility,
        grace_days=grace_days,
        discussion=discussion,
        archived=archived,
    )
    body = change.model_dump(mode="json", exclude_none=True)
    client, path = connect(), f"/courses/{segment(slug)}"
    if any(each is not None for each in (category, drop, scale, override_percent)):
        present = understood(CourseView, client.get(path))
        policy = present.policy.model_dump(mode="json", exclude_none=True)
        if category:
            policy["categories"] = [] if category == ["none"] else [_category(text) for text in category]
        if drop is not None:
            policy["drop"] = drop
        if scale is not None:
            policy["scale"] = scale or None
        if override_percent is not None:
            policy["override_percent"] = (
                None if override_percent == "none" else _number(override_percent, "percent")
            )
        body |= {"policy": policy, "revision": present.revision}
    return _show_course(understood(CourseView, client.patch(path, body)), json)


def _category(text: str) -> dict[str, Any]:
    name, _, numbers = text.rpartition("=")
    weight, _, drop = numbers.partition(":")
    if not name or (drop and not drop.isdecimal()):
        raise BadRequest(f"'{text}' is not a category.", "Write it as NAME=WEIGHT, or NAME=WEIGHT:DROP.")
    return {"name": name, "weight": _number(weight, "weight"), "drop": int(drop or 0)}


def _number(text: str, what: str) -> float:
    try:
        return float(text)
    except ValueError as error:
        raise BadRequest(f"'{text}' is not a {what}.", "Write a number such as 40 or 12.5.") from error


@course.command()
def staff(
    slug: CourseArgument,
    name: Name,
    role: Annotated[
        Literal["owner", "instructor", "assistant", "none"],
        typer.Argument(metavar="owner|instructor|assistant|none", help="Their role; none removes them."),
    ],
    json: options.Json = False,
) -> int:
    """Set the role of a teacher (owners only)."""
    body = {"role": None if role == "none" else role}
    found = connect().put(f"/courses/{segment(slug)}/staff/{segment(name)}", body)
    return _show_course(understood(CourseView, found), json)


@course.command()
def join(
    key: Annotated[str, typer.Argument(metavar="CODE", help="A join code, or your personal link.")],
    json: options.Json = False,
) -> int:
    """Become a student of a course."""
    body = {"key": key.rpartition("key=")[2]}
    found = understood(CourseView, connect().post("/courses/join", body))
    if not json:
        say(f"You are a student of {found.name} now.", "green")
        say(f"Next: grader assignment list {found.slug}", "dim")
        return 0
    put_json(found)
    return 0


@course.command()
def group(
    slug: CourseArgument,
    join: Annotated[
        str | None, typer.Option(metavar="CODE", help="Join the group that has this code.")
    ] = None,
    make: Annotated[str | None, typer.Option(metavar="NAME", help="Make a group.")] = None,
    leave: Annotated[bool, typer.Option("--leave", help="Leave your group.")] = False,
    json: options.Json = False,
) -> int:
    """Show the group with which you hand in, or choose one."""
    path = f"/courses/{segment(slug)}/group"
    body = {"join": join, "make": make, "leave": leave}
    changes = join is not None or make is not None or leave
    found = understood(OwnGroup, connect().post(path, body) if changes else connect().get(path))
    if json:
        put_json(found)
        return 0
    if found.group is None:
        tell("You hand in alone.")
    else:
        tell(f"{found.group.name}: {', '.join(found.group.members)}", "bold")
        tell(f"Others join with: grader course group {found.course} --join {found.group.code}")
    if found.most is not None:
        tell(f"A group has at most {found.most} members.")
    for why in (found.closed, found.stays):
        if why:
            say(why, "yellow")
    return 0


@course.command()
def log(
    slug: CourseArgument,
    limit: Annotated[int, typer.Option(min=1, max=500, help="How many entries.")] = 50,
    json: options.Json = False,
) -> int:
    """List what the course's staff did, newest first."""
    found = understood(AuditLog, connect().get(f"/courses/{segment(slug)}/log", limit=limit))
    if json:
        put_json(found)
        return 0
    put_log(found, f"/courses/{slug}")
    return 0


def _show_course(found: CourseView, json: bool) -> int:
    if json:
        put_json(found)
        return 0
    tell(f"{found.name} ({found.slug}){', archived' if found.archived else ''}", "bold")
    tell(f"{found.term or 'no term'}, {found.time_zone}, grace days of each student: {found.grace_days}")
    if not found.discussion:
        tell("no discussion of chapters and of its assignments' challenges")
    for each in found.policy.categories:
        lowest = f", the lowest {each.drop} dropped" if each.drop else ""
        tell(f"category {each.name}: weight {each.weight:g}{lowest}")
    if found.policy.drop:
        tell(f"the lowest {found.policy.drop} dropped")
    if found.policy.scale is not None:
        tell(f"worth {found.policy.scale:g} points")
    if found.policy.override_percent is not None:
        tell(f"points by staff: at most {found.policy.override_percent:g} % of a challenge's")
    tell("taught by " + ", ".join(f"{name} ({role.value})" for name, role in found.staff.items()))
    if found.students is not None:
        tell(f"{found.students} students, {found.invited} invited")
    return 0


@roster.command(name="show")
def show_roster(slug: CourseArgument, json: options.Json = False) -> int:
    """List the members of a course, and those who have not joined yet."""
    return _show_roster(understood(Roster, connect().get(f"/courses/{segment(slug)}/roster")), json)


@roster.command(name="import")
def import_roster(
    slug: CourseArgument,
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE", help="A CSV file whose first line names its columns, such as email,name."
        ),
    ],
    apply: Annotated[
        bool, typer.Option("--apply", help="Apply the changes; without it, only show them.")
    ] = False,
    drop_missing: Annotated[
        bool, typer.Option("--drop-missing", help="Take students who are not in the file off the roster.")
    ] = False,
    skip_bad: Annotated[
        bool, typer.Option("--skip-bad", help="Import the good rows even if others are bad.")
    ] = False,
    let_back_in: Annotated[
        bool, typer.Option("--let-back-in", help="Let students in the file whom staff removed back in.")
    ] = False,
    json: options.Json = False,
) -> int:
    """Import the students of a course from a table. Importing it twice changes nothing."""
    try:
        content = roster_file.decode(file.read_bytes())
    except OSError as error:
        raise BadRequest(f"'{file}' cannot be read: {error.strerror}.") from error
    body = RosterBody(
        text=content.text,
        dry_run=not apply,
        drop_missing=drop_missing,
        skip_bad=skip_bad,
        let_back_in=let_back_in,
    )
    answer = connect().post(f"/courses/{segment(slug)}/roster", body.model_dump())
    found = understood(RosterResult, answer)
    if json:
        put_json(found)
    else:
        _show_import(found)
    if content.guessed:
        say(
            f"The file was read as {content.encoding}. If the names look wrong, save it as CSV in UTF-8.",
            "yellow",
        )
    return 1 if found.problems and not found.applied else 0


def _show_import(found: RosterResult) -> None:
    table = _table("line", "who", "name", "what", "change")
    for change in found.changes:
        line = str(change.line) if change.line is not None else ""
        table.add_row(
            line, safe(change.person), safe(change.full_name), change.kind, safe("; ".join(change.what))
        )
    if found.changes:
        put_table(table)
    if found.counts.get("removed"):
        say("Staff removed some of them. Let them back in with: --let-back-in", "dim")
    for problem in found.problems:
        column = f", {problem.column}" if problem.column else ""
        say(f"line {problem.line}{column}: {problem.text}", "red")
    for name in found.unused:
        say(f"The column '{name}' is not used.", "dim")
    counts = ", ".join(f"{count} {kind}" for kind, count in found.counts.items()) or "nothing changes"
    done = "Done" if found.applied else "A dry run" if found.dry_run else "Nothing was done"
    say(
        f"{done}: {found.rows} rows, {found.unchanged} as they are; {counts}.",
        "green" if found.applied else "bold",
    )
    if not found.applied and not found.dry_run:
        say("Correct the rows, or import the others with --skip-bad.", "dim")
    elif found.dry_run and found.problems:
        say(
            "Nothing is imported while there are bad rows. Correct them, or leave them out with --skip-bad.",
            "dim",
        )
    elif found.dry_run:
        say("Apply the changes with: --apply", "dim")


@roster.command()
def change(
    slug: CourseArgument,
    name: Name,
    section: Annotated[str | None, typer.Option(metavar="NAME", help="Another section.")] = None,
    group: Annotated[str | None, typer.Option(metavar="NAME", help="Another group.")] = None,
    on_roster: Annotated[
        bool | None,
        typer.Option("--enrol/--drop", help="Let a removed student back in, or remove a student."),
    ] = None,
    json: options.Json = False,
) -> int:
    """Change one member."""
    change = MemberChange(section=section, group=group, on_roster=on_roster)
    body = change.model_dump(exclude_none=True)
    found = connect().patch(f"/courses/{segment(slug)}/roster/{segment(name)}", body)
    return _show_roster(understood(Roster, found), json)


@roster.command()
def withdraw(
    slug: CourseArgument,
    person: Annotated[
        str, typer.Argument(metavar="PERSON", help="The e-mail address or the student number on the roster.")
    ],
    json: options.Json = False,
) -> int:
    """Take somebody who has not joined yet off the roster; their link stops working."""
    client, path = connect(), f"/courses/{segment(slug)}"
    invited = understood(Roster, client.get(f"{path}/roster")).invited
    named = [
        student
        for student in invited
        if person.lower() in (student.email.lower(), student.student_number.lower())
    ]
    if not named:
        raise NotFound(
            f"'{person}' is not among those who have not joined yet.",
            f"`grader roster show {slug}` lists them.",
        )
    return _show_roster(understood(Roster, client.delete(f"{path}/invitations/{named[0].id}")), json)


@roster.command()
def invite(
    slug: CourseArgument,
    mail: Annotated[bool, typer.Option("--mail", help="Mail the links instead of printing them.")] = False,
    section: Section = None,
    days: Days = 30,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="A CSV file for the links.")
    ] = None,
    bom: options.Bom = False,
    json: options.Json = False,
) -> int:
    """Make new personal links for everyone on the roster who has not joined yet; earlier links stop working."""
    body = InvitationOrder(mail=mail, days=days, section=section).model_dump(exclude_none=True)
    sheet = understood(InvitationSheet, connect().post(f"/courses/{segment(slug)}/invitations", body))
    if json:
        put_json(sheet)
        return 0
    if output is not None and not mail:
        write(output, "".join(spreadsheet.table(PersonalLink, sheet.links, bom=bom)))
        output.chmod(0o600)
        say(f"Wrote {len(sheet.links)} links to {output}, valid until {sheet.expires_at:%Y-%m-%d}.", "green")
        return 0
    for link in sheet.links:
        tell(f"{link.full_name or link.email or link.student_number}  {link.link}")
    if mail:
        say(
            f"{sheet.mailed} links are being mailed; `grader roster show {slug}` shows when each was sent.",
            "green",
        )
    for name in sheet.unmailed:
        say(f"{name} has no address.", "yellow")
    return 0


@roster.command()
def code(
    slug: CourseArgument,
    section: Annotated[str, typer.Option(metavar="NAME", help="The section that students join.")] = "",
    uses: Annotated[
        int | None, typer.Option(min=1, help="How many students can join (default: any number).")
    ] = None,
    days: Days = 30,
    listed: Annotated[bool, typer.Option("--list", help="List the codes that still work.")] = False,
    revoke: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Revoke the code with this number.")
    ] = None,
    json: options.Json = False,
) -> int:
    """Make a join code for students to enter; list the codes that still work, or revoke one."""
    if listed or revoke is not None:
        return _put_codes(slug, revoke, json)
    body = JoinCodeBody(section=section, uses=uses, days=days).model_dump()
    made = understood(JoinCodeView, connect().post(f"/courses/{segment(slug)}/join-codes", body))
    if json:
        put_json(made)
        return 0
    say(f"Until {made.expires_at:%Y-%m-%d}, at {made.link} or with `grader course join`:", "dim")
    tell(made.code)
    return 0


def _put_codes(slug: str, revoke: int | None, json: bool) -> int:
    client = connect()
    if revoke is not None:
        client.delete(f"/courses/{segment(slug)}/join-codes/{revoke}")
    found = understood(JoinCodeList, client.get(f"/courses/{segment(slug)}/join-codes"))
    if json:
        put_json(found)
        return 0
    table = _table("number", "code", "section", "used", "until")
    for each in found.codes:
        used = f"{each.used} of {each.uses}" if each.uses else str(each.used)
        table.add_row(str(each.id), each.code, safe(each.section), used, f"{each.expires_at:%Y-%m-%d}")
    put_table(table)
    return 0


def _show_roster(found: Roster, json: bool) -> int:
    if json:
        put_json(found)
        return 0
    table = _table("account", "name", "number", "role", "section", "group", "came by")
    for each in found.members:
        table.add_row(
            safe(each.name, "cyan"),
            safe(each.full_name),
            safe(each.student_number),
            each.role.value,
            safe(each.section),
            safe(each.group),
            safe(each.came_by) if each.accepted else "has not accepted yet",
        )
    for waiting in found.invited:
        link = f"link of {moment(waiting.issued_at)}" if waiting.issued_at else "no link yet"
        table.add_row(
            "",
            safe(waiting.full_name or waiting.email),
            safe(waiting.student_number),
            "invited",
            safe(waiting.section),
            safe(waiting.group),
            link,
        )
    for gone in found.removed:
        table.add_row(
            safe(gone.name),
            safe(gone.full_name),
            safe(gone.student_number),
            "removed",
            safe(gone.section),
            "",
            moment(gone.removed_at),
        )
    put_table(table)
    if found.removed:
        say(f"Let somebody back in with: grader roster change {found.course} NAME --enrol", "dim")
    return 0


def _table(*names: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in names:
        table.add_column(name)
    return table
