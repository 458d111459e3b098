"""`lti`: learning platforms, linked courses, and the grades sent to them."""

from __future__ import annotations

from typing import Annotated, Literal

import typer
from rich.table import Table
from rich.text import Text

from grader.cli import options
from grader.cli.client import connect, segment, understood
from grader.cli.command import make_app
from grader.cli.terminal import moment, put_json, put_table, safe, say, tell
from grader.errors import BadRequest
from grader.formats import points
from grader.schemas.lti import LtiCourse, LtiPlatformList, LtiPlatformView, PlatformKind

app = make_app(remote=True)
lti = make_app(remote=True)
app.add_typer(lti, name="lti", help="Connect Canvas and Moodle.")

Course = Annotated[
    str, typer.Argument(metavar="COURSE", help="The course, as `grader course list` names it.")
]
Number = Annotated[int, typer.Argument(metavar="N", min=1, help="The number, as `grader lti list` shows it.")]
Link = Annotated[int, typer.Argument(metavar="LINK", min=1, help="The link, as `grader lti show` lists it.")]
Deployments = Annotated[
    list[str] | None,
    typer.Option("--deployment", metavar="ID", help="A deployment's id. Repeatable."),
]
Hosts = Annotated[
    list[str] | None,
    typer.Option(
        "--host", metavar="HOST", help="Another host, besides that of its tokens, that grades may be sent to."
    ),
]
Accounts = Annotated[
    Literal["none", "roster", "anyone"] | None,
    typer.Option(help="Who gets an account: nobody, people on a roster, everyone in a linked course."),
]
TrustEmail = Annotated[
    bool | None,
    typer.Option(
        "--trust-email/--no-trust-email",
        help="Trust its e-mail addresses: people cannot set their own there.",
    ),
]


@lti.command(name="list")
def list_platforms(json: options.Json = False) -> int:
    """List the registered platforms, and the addresses to enter there (admins only)."""
    return _show_platforms(understood(LtiPlatformList, connect().get("/lti/platforms")), json)


@lti.command()
def add(
    name: Annotated[str, typer.Argument(metavar="NAME", help="What people call it.")],
    client_id: Annotated[
        str, typer.Option("--client-id", metavar="ID", help="The client id that it gave to this site.")
    ],
    canvas: Annotated[
        str | None,
        typer.Option(metavar="URL", help="The address of a Canvas, such as https://uni.instructure.com."),
    ] = None,
    moodle: Annotated[
        str | None,
        typer.Option(metavar="URL", help="The address of a Moodle, such as https://moodle.uni.edu."),
    ] = None,
    issuer: Annotated[str, typer.Option(metavar="URL", help="The issuer, for any other platform.")] = "",
    auth_url: Annotated[str, typer.Option(metavar="URL", help="The address of its sign-in.")] = "",
    token_url: Annotated[str, typer.Option(metavar="URL", help="The address of its tokens.")] = "",
    jwks_url: Annotated[str, typer.Option(metavar="URL", help="The address of its keys.")] = "",
    token_audience: Annotated[
        str, typer.Option(metavar="TEXT", help="The audience of token requests, if not --token-url.")
    ] = "",
    deployment: Deployments = None,
    host: Hosts = None,
    accounts: Accounts = None,
    trust_email: TrustEmail = None,
    json: options.Json = False,
) -> int:
    """Register a platform (admins only)."""
    if canvas and moodle:
        raise BadRequest("Give --canvas or --moodle, not both.")
    kind = PlatformKind.CANVAS if canvas else PlatformKind.MOODLE if moodle else PlatformKind.OTHER
    body = {
        "name": name,
        "kind": kind.value,
        "site": canvas or moodle or "",
        "client_id": client_id,
        "issuer": issuer,
        "auth_url": auth_url,
        "token_url": token_url,
        "jwks_url": jwks_url,
        "token_audience": token_audience,
        "deployments": deployment or [],
        "hosts": host or [],
        "accounts": accounts or "anyone",
        "trust_email": bool(trust_email),
    }
    made = understood(LtiPlatformView, connect().post("/lti/platforms", body))
    if json:
        put_json(made)
        return 0
    say(f"Registered {made.name} with the number {made.id}.", "green")
    if not made.deployments:
        say(f"Next, once it names one: grader lti change {made.id} --deployment ID", "dim")
    return 0


@lti.command()
def change(
    number: Number,
    name: Annotated[str | None, typer.Option(help="Another name.")] = None,
    deployment: Deployments = None,
    host: Hosts = None,
    accounts: Accounts = None,
    trust_email: TrustEmail = None,
    json: options.Json = False,
) -> int:
    """Change the given settings of a platform; deployments and hosts are replaced (admins only)."""
    given = {
        "name": name,
        "deployments": deployment or None,
        "hosts": host or None,
        "accounts": accounts,
        "trust_email": trust_email,
    }
    body = {key: value for key, value in given.items() if value is not None}
    found = understood(LtiPlatformView, connect().patch(f"/lti/platforms/{number}", body))
    if json:
        put_json(found)
    else:
        say(f"Changed {found.name}.", "green")
    return 0


@lti.command()
def remove(number: Number, json: options.Json = False) -> int:
    """Remove a platform and its links to courses; accounts and grades stay (admins only)."""
    return _show_platforms(understood(LtiPlatformList, connect().delete(f"/lti/platforms/{number}")), json)


@lti.command(name="rotate-key")
def rotate_key(json: options.Json = False) -> int:
    """Create a new key, and sign with it from now on (admins only)."""
    found = understood(LtiPlatformList, connect().post("/lti/keys", {}))
    if json:
        put_json(found)
    else:
        say(f"A new key signs from now on; it is at {found.tool.jwks_url}.", "green")
    return 0


@lti.command()
def show(course: Course, json: options.Json = False) -> int:
    """Show the platforms' courses linked to this one, their links, and the grades sent."""
    return _show_course(understood(LtiCourse, connect().get(_path(course))), json)


@lti.command()
def release(
    course: Course,
    link: Link,
    stop: Annotated[
        bool, typer.Option("--stop", help="Stop sending; grades already sent stay there.")
    ] = False,
    json: options.Json = False,
) -> int:
    """Send the grades of a link now, and again at each change."""
    found = connect().put(f"{_path(course)}/links/{link}", {"released": not stop})
    return _show_course(understood(LtiCourse, found), json)


@lti.command()
def send(
    course: Course,
    link: Link,
    student: Annotated[
        str | None, typer.Option(metavar="NAME", help="This student's grade, even if it was sent.")
    ] = None,
    json: options.Json = False,
) -> int:
    """Send failed and waiting grades again."""
    found = connect().post(f"{_path(course)}/links/{link}/send", {"student": student})
    return _show_course(understood(LtiCourse, found), json)


@lti.command()
def unlink(
    course: Course,
    number: Annotated[
        int, typer.Argument(metavar="N", min=1, help="The linked course, as `grader lti show` lists it.")
    ],
    json: options.Json = False,
) -> int:
    """Unlink a platform's course from this one (owners only)."""
    found = connect().delete(f"{_path(course)}/{number}")
    return _show_course(understood(LtiCourse, found), json)


def _path(course: str) -> str:
    return f"/courses/{segment(course)}/lti"


def _show_platforms(found: LtiPlatformList, json: bool) -> int:
    if json:
        put_json(found)
        return 0
    table = _table("number", "name", "issuer", "client id", "deployments", "accounts", "courses")
    for each in found.platforms:
        table.add_row(
            str(each.id),
            safe(each.name, "cyan"),
            safe(each.issuer),
            safe(each.client_id),
            safe(", ".join(each.deployments) or "none yet"),
            each.accounts,
            str(each.courses),
        )
    put_table(table)
    for label, address in found.tool.model_dump().items():
        tell(f"{label.removesuffix('_url'):8} {address}")
    return 0


def _show_course(found: LtiCourse, json: bool) -> int:
    if json:
        put_json(found)
        return 0
    for context in found.contexts:
        say(f"{context.id}: {context.title or 'a course'} of {context.platform}", "bold")
        for link in context.links:
            state = f"released {moment(link.released_at)}" if link.released_at else "not released"
            tell(f"link {link.id}: {link.assignment}, {state}")
            if link.why_not:
                say(link.why_not, "red")
            table = _table("student", "points", "of", "state", "sent", "why not")
            for each in link.scores:
                again = f", again {moment(each.next_at)}" if each.next_at and each.tries else ""
                table.add_row(
                    safe(each.student, "cyan"),
                    points(each.points),
                    points(each.most),
                    f"{each.state.value}{again}",
                    moment(each.sent_at),
                    safe(each.error),
                )
            if link.scores:
                put_table(table)
            if link.unknown:
                say(f"{context.platform} does not know: {', '.join(link.unknown)}", "yellow")
    if not found.contexts:
        say("No course of a learning platform is linked.", "dim")
    return 0


def _table(*names: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in names:
        table.add_column(Text(name))
    return table
