"""`challenges`, `show`, `init`."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from grader.cli import agents_file, catalogue, config, options
from grader.cli.command import make_app
from grader.cli.report import sizes_text
from grader.cli.terminal import out, put_columns, put_json, safe, say
from grader.errors import BadRequest, UnknownLanguage
from grader.languages import ON_HOST, Language
from grader.schemas.challenge import ChallengeDetail, ChallengeList

app = make_app()
Local = Annotated[bool, typer.Option("--local", help="Read the catalogue on this machine, without a server.")]


@app.command()
def challenges(
    json: options.Json = False,
    local: Local = False,
    server: options.Server = None,
) -> int:
    """List the challenges."""
    found = catalogue.all_challenges(local)
    if json:
        put_json(found)
    else:
        _put_list(found)
    return 0


@app.command()
def show(
    slug: options.Slug,
    json: options.Json = False,
    local: Local = False,
    server: options.Server = None,
) -> int:
    """Show a challenge: spec, signature, cases, workloads."""
    detail = catalogue.one(slug, local)
    if json:
        put_json(detail)
    else:
        put_detail(detail)
    return 0


@app.command()
def init(
    slug: options.Slug,
    language: options.LanguageOption = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="The file to write.")
    ] = None,
    agents: Annotated[
        bool,
        typer.Option(
            "--agents/--no-agents", help="Also write AGENTS.md for coding agents, unless the folder has one."
        ),
    ] = True,
    local: Local = False,
    server: options.Server = None,
) -> int:
    """Write a challenge's starter file, and AGENTS.md next to it."""
    detail = catalogue.one(slug, local)
    chosen = options.language(language or config.text("language")) or _preferred(detail)
    if chosen.value not in detail.starters:
        known = ", ".join(sorted(detail.starters))
        raise UnknownLanguage(f"'{slug}' cannot be solved in {chosen.value}.", f"It takes: {known}.")
    path = output or Path(f"{slug}{chosen.suffix}")
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(detail.starters[chosen.value])
    except FileExistsError as error:
        raise BadRequest(
            f"'{path}' already exists; it is unchanged.", "Choose another file with --output."
        ) from error
    except OSError as error:
        raise BadRequest(f"'{path}' cannot be written: {error.strerror}.") from error
    if agents and agents_file.write(path.parent):
        say(f"Wrote {path.parent / agents_file.NAME} for coding agents.", "dim")
    which = "" if output is None else f" -c {slug}"
    say(f"Wrote {path}. Judge it here with: grader test {path}{which}", "green")
    return 0


def _preferred(detail: ChallengeDetail) -> Language:
    return next((language for language in detail.languages if language.runs_on(ON_HOST)), detail.languages[0])


def _put_list(found: ChallengeList) -> None:
    all_of_them = found.challenges
    put_columns(
        {
            "challenge": [safe(challenge.slug, "cyan") for challenge in all_of_them],
            "title": [safe(challenge.title) for challenge in all_of_them],
            "track": [safe(challenge.track) for challenge in all_of_them],
            "difficulty": [safe(challenge.difficulty) for challenge in all_of_them],
            "languages": [Text(", ".join(challenge.languages)) for challenge in all_of_them],
            "version": [Text(str(challenge.version)) for challenge in all_of_them],
        },
        optional=("version", "languages", "track"),
        wrapped="title",
    )


def put_detail(detail: ChallengeDetail) -> None:
    from rich.markdown import Markdown
    from rich.syntax import Syntax

    from grader.challenge import drawings

    console = out()
    console.print(safe(detail.title, "bold"), Text(f"{detail.slug}, version {detail.version}", "dim"))
    console.print(safe(f"{detail.track}, {detail.difficulty}", "dim"))
    if detail.prerequisites:
        console.print(safe(f"builds on {', '.join(detail.prerequisites)}", "dim"))
    console.print()
    spec = drawings.in_words(detail.spec, detail.drawings)
    console.print(Markdown(_with_summaries(spec), hyperlinks=False))
    for language, declaration in detail.signatures.items():
        console.print(f"\n[bold]{language}[/bold]")
        syntax = Syntax("", Language.named(language).lexer, background_color="default")
        # Unwrapped, because people copy it.
        console.print(syntax.highlight(safe(declaration).plain), soft_wrap=True, end="")
    console.print(_arguments(detail))
    console.print(_cases(detail))
    if detail.hidden_cases:
        counted = "1 hidden case" if detail.hidden_cases == 1 else f"{detail.hidden_cases} hidden cases"
        console.print(Text(f"and {counted}. {detail.hidden_told}", "dim"))
    console.print(_workloads(detail))
    tolerance = ", ".join(f"{name} {value:g}" for name, value in detail.tolerance.items())
    console.print(safe(f"\nTolerance: {tolerance or 'exact'}", "dim"))
    for rule in detail.rules:
        console.print(safe(f"Rule for the compiled code: {rule}", "bold"))
    for allowed in detail.approximations:
        where = f" at {', '.join(allowed.workloads)}" if allowed.workloads else ""
        console.print(
            safe(f"May pass where it is timed{where}: {', '.join(allowed.names)}. {allowed.reason}", "dim")
        )
    if detail.judged_with:
        versions = ", ".join(f"{name} {version}" for name, version in detail.judged_with.items())
        console.print(safe(f"Triton is judged with {versions}", "dim"), soft_wrap=True)
    console.print(Text(detail.library_told, "dim"))


def _with_summaries(spec: str) -> str:
    """Rich drops HTML, and with it the subjects of hints."""
    return re.sub(r"<details>\s*<summary>(.*?)</summary>", r"\n**\1**\n", spec, flags=re.DOTALL)


def _arguments(detail: ChallengeDetail) -> Table:
    own = any(argument.allowed for argument in detail.arguments)
    table = _titled("Arguments", "name", "kind", "dtype", "shape", *(["may be off by"] if own else []))
    for argument in detail.arguments:
        allowed = [safe(argument.allowed)] if own else []
        shape = safe(" x ".join(argument.shape))
        table.add_row(safe(argument.name), argument.kind, argument.dtype, shape, *allowed)
    return table


def _cases(detail: ChallengeDetail) -> Table:
    table = _titled("Cases", "name", "category", "sizes", "inputs")
    for case in detail.cases:
        inputs = "; ".join(f"{name}: {words}" for name, words in case.inputs.items())
        if case.on:
            inputs += " (on a GPU)"
        table.add_row(safe(case.name), safe(case.category), sizes_text(case.sizes), safe(inputs or case.note))
    return table


def _workloads(detail: ChallengeDetail) -> Table:
    table = _titled("Workloads", "name", "sizes", "on")
    for workload in detail.workloads:
        table.add_row(safe(workload.name), sizes_text(workload.sizes), workload.on)
    return table


def _titled(title: str, *columns: str) -> Table:
    table = Table(title=f"\n{title}", title_justify="left", title_style="bold", box=None, pad_edge=False)
    for name in columns:
        table.add_column(name, header_style="dim")
    return table
