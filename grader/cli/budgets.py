"""`admin budgets`, `admin budget`: GPU seconds of users, courses and competitions."""

from __future__ import annotations

from typing import Annotated, Literal

import typer
from rich.table import Table

from grader.cli import options
from grader.cli.client import connect, segment, understood
from grader.cli.terminal import put_json, put_table, safe, table, tell
from grader.errors import BadRequest
from grader.schemas.budget import Budget, BudgetBody, BudgetList

PayerName = Literal["user", "course", "competition"]
# The word that takes a limit away.
_NONE = "none"


def register(admin: typer.Typer) -> None:
    admin.command("budgets")(list_budgets)
    admin.command("budget")(set_budget)


def list_budgets(json: options.Json = False) -> int:
    """List users, courses and competitions with a budget of GPU seconds, or that used a GPU."""
    found = understood(BudgetList, connect().get("/budgets"))
    if json:
        put_json(found)
        return 0
    if not found.budgets:
        tell("Nobody has a budget or used a GPU.")
        return 0
    put_table(budget_table(found.budgets))
    return 0


def set_budget(
    payer: Annotated[PayerName, typer.Argument(metavar="user|course|competition", help="Whose budget.")],
    name: Annotated[str, typer.Argument(metavar="NAME", help="The user, course or competition.")],
    day: Annotated[
        str | None, typer.Option("--day", metavar="SECONDS|none", help="GPU seconds a day of UTC.")
    ] = None,
    total: Annotated[
        str | None, typer.Option("--total", metavar="SECONDS|none", help="GPU seconds in all.")
    ] = None,
    json: options.Json = False,
) -> int:
    """Set a budget of GPU seconds. Both limits are replaced: one that is left out is taken away."""
    if day is None and total is None:
        raise BadRequest("Give --day or --total.", f"To take a budget away: --day {_NONE} --total {_NONE}")
    body = BudgetBody(day_s=_seconds("--day", day), total_s=_seconds("--total", total))
    found = understood(Budget, connect().put(f"/budgets/{payer}/{segment(name)}", body.model_dump()))
    if json:
        put_json(found)
        return 0
    put_table(budget_table([found]))
    return 0


def budget_table(budgets: list[Budget]) -> Table:
    rows = table("", "name", "today", "a day", "so far", "in all")
    for budget in budgets:
        rows.add_row(
            budget.payer.value,
            safe(budget.name, "cyan"),
            f"{budget.spent_day_s:.1f} s",
            _limit(budget.day_s),
            f"{budget.spent_total_s:.1f} s",
            _limit(budget.total_s),
        )
    return rows


def _limit(seconds: float | None) -> str:
    return "" if seconds is None else f"{seconds:g} s"


def _seconds(option: str, text: str | None) -> float | None:
    """Raises BadRequest."""
    if text is None or text == _NONE:
        return None
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds <= 1e9:
        raise BadRequest(f"{option} {text} is no number of seconds.", f"Give one from 0, or {_NONE}.")
    return seconds
