"""`open`: a page of the server in the browser."""

from __future__ import annotations

import re
from typing import Annotated

import typer

from grader.cli import browser, login, names, options
from grader.cli.client import Client, segment
from grader.cli.command import make_app
from grader.cli.terminal import say, tell

app = make_app()

# Ten letters and digits, without i, l, o and u.
_ID = re.compile(r"[0-9a-hjkmnp-tv-z]{10}")


@app.command("open")
def open_in_browser(
    what: Annotated[
        str | None,
        typer.Argument(metavar="[ID|SLUG]", help="A submission or a challenge (default: the home page)."),
    ] = None,
    leaderboard: Annotated[
        bool, typer.Option("--leaderboard", help="The challenge's leaderboard instead of its page.")
    ] = False,
    print_only: Annotated[
        bool, typer.Option("--print", help="Print the address instead of opening it.")
    ] = False,
    server: options.Server = None,
) -> int:
    """Open a page of the server in the browser."""
    address = Client(login.server()).server + page_of(what, leaderboard)
    if print_only or not browser.allowed() or not browser.has_browser() or not browser.open_page(address):
        tell(address)
    else:
        say(f"Opened {address}", "dim")
    return 0


def page_of(what: str | None, leaderboard: bool = False) -> str:
    """A name that looks like an id is a submission's, unless a known challenge has it."""
    if what is None:
        return "/"
    if leaderboard:
        return f"/leaderboards/{segment(what)}"
    is_submission = _ID.fullmatch(what) and what not in names.read(names.CHALLENGES)
    return f"/{'submissions' if is_submission else 'challenges'}/{segment(what)}"
