"""`config`: the client's settings and their sources."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.table import Table

from grader.cli import config as kept
from grader.cli import login, options
from grader.cli.command import make_app
from grader.cli.terminal import put_json, put_table, safe, say

app = make_app()
config = typer.Typer(add_completion=False, invoke_without_command=True)
app.add_typer(config, name="config")

Name = Annotated[str, typer.Argument(metavar="NAME", help=f"One of: {', '.join(kept.KEYS)}.")]


@config.callback()
def show(context: typer.Context, json: options.Json = False) -> None:
    """Show the client's settings and where each comes from.

    A flag overrides the environment, and the environment overrides the file.
    """
    if context.invoked_subcommand is not None:
        return
    found = [_as_dict(kept.find(name)) for name in kept.KEYS]
    if json:
        put_json({"file": kept.path(), "login": login.path(), "user": login.name(), "settings": found})
        return
    table = Table(box=None, pad_edge=False, header_style="dim")
    for column in ("setting", "value", "from", "meaning"):
        table.add_column(column, overflow="fold")
    for setting in found:
        table.add_row(
            safe(setting["name"], "cyan"),
            safe(_shown(setting["value"])),
            safe(setting["from"]),
            safe(setting["meaning"]),
        )
    put_table(table)
    say(f"The file is {kept.path()}.", "dim")
    who = login.name()
    say(
        f"Signed in as {who}; the token is in {login.path()}." if who else "Not signed in to that server.",
        "dim",
    )


@config.command("set")
def put(
    name: Name,
    value: Annotated[
        str | None, typer.Argument(metavar="[VALUE]", help="The new value (default: remove the setting).")
    ] = None,
) -> int:
    """Write a setting to the file, or remove it from there."""
    if value is None:
        say(f"{name} is removed." if kept.take(name) else f"The file does not set {name}.")
        return 0
    chosen = kept.put(name, value)
    say(f"{name} is {_shown(chosen)} in {kept.path()}.", "green")
    now = kept.find(name)
    if now.source != "file":
        say(f"{now.place} overrides it: {_shown(now.value)}.", "yellow")
    return 0


def _as_dict(setting: kept.Setting) -> dict[str, str | bool]:
    """Without a setting, the server of `grader login` is used."""
    value, source = setting.value, setting.source
    if setting.name == "server" and source == "default":
        value, source = login.server(), "login" if login.chosen_server() else "default"
    place = {"file": f"file {setting.place}", "flag": "flag", "environment": setting.place}.get(
        source, source
    )
    meaning = kept.KEYS[setting.name].meaning
    return {
        "name": setting.name,
        "value": value,
        "source": source,
        "from": place,
        "variable": kept.variable(setting.name),
        "meaning": meaning,
    }


def _shown(value: str | bool) -> str:
    return str(value).lower() if isinstance(value, bool) else value or "-"
