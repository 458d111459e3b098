"""`test`: judge a file on this machine with the judge that ranks, without server, queue or database."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from grader.cli import catalogue, options
from grader.cli.command import make_app
from grader.cli.follow import exit_code
from grader.cli.progress import Display
from grader.cli.report import put_report
from grader.cli.syntax import syntax_error
from grader.cli.terminal import put_json
from grader.errors import BadRequest, NotAllowed
from grader.judge.boards import CPU
from grader.languages import Language
from grader.schemas.report import Report, Score, Verdict

if TYPE_CHECKING:
    from grader.challenge.loader import Challenge

app = make_app()


@app.command("test")
def judge_here(
    file: options.File,
    challenge: options.Challenge = None,
    language: options.LanguageOption = None,
    box: Annotated[
        Literal["local", "bubblewrap", "docker"],
        typer.Option(help="A plain process (your own code), or one behind walls."),
    ] = "local",
    case: Annotated[str | None, typer.Option("--case", metavar="NAME", help="Run this case alone.")] = None,
    seed: Annotated[
        int | None, typer.Option("--seed", metavar="S", help="With --case: replay this seed's data.")
    ] = None,
    timing: Annotated[
        bool, typer.Option("--timing/--no-timing", help="Time the workloads when all cases pass.")
    ] = True,
    json: options.Json = False,
) -> int:
    """Judge a file on this machine, without a server."""
    if seed is not None and case is None:
        raise BadRequest("A seed replays one case: name it with --case.")
    if not sys.platform.startswith("linux"):
        raise NotAllowed("Judging needs Linux.", "Submit to a server: grader submit")
    from grader.challenge.source import decode, language_of

    source = decode(options.read_source(file))
    chosen = language_of(file.name, language)
    loaded = catalogue.course().load(catalogue.challenge_of(file, challenge, local=True))
    if wrong := syntax_error(source, chosen):
        return _tell(_not_python(loaded, chosen, wrong), file, json)

    from grader.judge.at_home import judge_at_home
    from grader.sandbox.choose import make_boxes
    from grader.settings import Settings

    with Display() as display:
        report = judge_at_home(
            loaded,
            source,
            chosen,
            make_boxes(box, Settings().sandbox),
            case=case,
            seed=seed,
            timing=timing,
            on_progress=lambda news: display.show(news.state, news.progress),
        )
    return _tell(report, file, json)


def _tell(report: Report, file: Path, json: bool) -> int:
    if json:
        put_json(report)
    else:
        put_report(report, str(file))
    return exit_code(report.verdict)


def _not_python(challenge: Challenge, language: Language, wrong: str) -> Report:
    """What the judge would say of a syntax error, without the seconds that a box takes to start."""
    return Report(
        verdict=Verdict.COMPILE_ERROR,
        challenge=challenge.slug,
        version=challenge.manifest.version,
        language=language,
        device=CPU,
        representative=False,
        score=Score(total=len(challenge.cases) + len(challenge.hidden_cases)),
        detail=wrong,
    )
