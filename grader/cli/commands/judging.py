"""The server's judge on this machine, without queue or database."""

from __future__ import annotations

import sys
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from rich.status import Status
from rich.text import Text

from grader.cli import catalogue, options
from grader.cli.call_profile import put_profile
from grader.cli.client import connect, segment, understood
from grader.cli.command import make_app
from grader.cli.follow import PHASES, exit_code, fetch, fetch_report
from grader.cli.options import looks_like, syntax_error
from grader.cli.report import put_report
from grader.cli.terminal import aside, put_json, safe, say
from grader.device_kinds import EMULATED, home_board, kind_of
from grader.errors import BadRequest, NotAllowed
from grader.languages import Language
from grader.schemas.report import CaseReport, Report, Score, Verdict
from grader.schemas.submission import ProgressView, SourceView, State

if TYPE_CHECKING:
    from grader.challenge.loader import Challenge


app = make_app()
Box = Annotated[
    Literal["local", "bubblewrap", "docker"],
    typer.Option(help="local: a plain process, for your own code; the others isolate the code."),
]


@app.command("test")
def judge_here(
    file: options.File,
    challenge: options.Challenge = None,
    language: options.LanguageOption = None,
    box: Box = "local",
    case: Annotated[str | None, typer.Option("--case", metavar="NAME", help="Run only this case.")] = None,
    seed: Annotated[
        int | None, typer.Option("--seed", metavar="S", help="With --case: use this seed's data.")
    ] = None,
    timing: Annotated[
        bool, typer.Option("--timing/--no-timing", help="Time the workloads when all cases pass.")
    ] = True,
    device: Annotated[
        str | None,
        typer.Option(
            "--device",
            metavar="NAME",
            help="emulated: an emulated GPU; cpu: Triton's interpreter.",
            show_default="by the language",
        ),
    ] = None,
    json: options.Json = False,
) -> int:
    """Judge a file on this machine, without a server."""
    if seed is not None and case is None:
        raise BadRequest("--seed needs --case NAME: a seed belongs to one case.")
    if not sys.platform.startswith("linux"):
        raise NotAllowed("Judging needs Linux.", "Submit to a server: grader submit")
    from grader.challenge.source import language_of

    source = options.read_source(file)
    chosen = language_of(file.name, language)
    loaded = catalogue.local_catalogue().load(catalogue.challenge_of(file, challenge, local=True))
    if wrong := syntax_error(source, chosen):
        return _finish(_not_python(loaded, chosen, source, wrong, device or home_board(chosen)), file, json)

    from grader.judge.at_home import judge_at_home
    from grader.sandbox.choose import make_boxes
    from grader.settings import Settings

    with Display() as display:
        report = judge_at_home(
            loaded,
            source,
            chosen,
            make_boxes(box, Settings().sandbox),
            device=device,
            case=case,
            seed=seed,
            timing=timing,
            on_progress=lambda news: display.show(news.state, news.progress),
        )
    return _finish(report, file, json)


@app.command("replay")
def replay(
    submission: options.Submission,
    case: Annotated[
        str | None,
        typer.Argument(metavar="[CASE]", help="A public case (default: the first that failed)."),
    ] = None,
    box: Box = "local",
    json: options.Json = False,
    server: options.Server = None,
) -> int:
    """Run a case of a submission again on this machine's emulated GPU, on the same data."""
    if not sys.platform.startswith("linux"):
        raise NotAllowed("The emulated GPU needs Linux.")
    from grader.judge.at_home import judge_at_home
    from grader.sandbox.choose import make_boxes
    from grader.settings import Settings

    client = connect()
    view = fetch(client, submission)
    if view.state is not State.DONE:
        raise NotAllowed(f"Submission {view.id} is not done.", f"Wait for it: grader watch {view.id}")
    found = _replayed(fetch_report(client, view.id), case)
    given = understood(SourceView, client.get(f"/submissions/{segment(view.id)}/source"))
    loaded = catalogue.local_catalogue().load(view.challenge)
    if loaded.manifest.version != view.version:
        say(f"It was judged by version {view.version}; here is version {loaded.manifest.version}.", "yellow")
    with Display() as display:
        report = judge_at_home(
            loaded,
            given.source,
            given.language,
            make_boxes(box, Settings().sandbox),
            device=EMULATED,
            case=found.name,
            seed=found.seed,
            timing=False,
            on_progress=lambda news: display.show(news.state, news.progress),
        )
    return _finish(report, Path(given.filename), json)


def _replayed(report: Report, name: str | None) -> CaseReport:
    """By name, or the first that failed. Raises BadRequest if its data is missing."""
    known = [case for case in report.cases if case.seed is not None and not case.hidden]
    chosen = [case for case in known if (case.verdict.failed if name is None else case.name == name)]
    if not chosen:
        what = "public case that failed" if name is None else f"public case '{name}' that ran"
        raise BadRequest(f"The report has no {what}.")
    # Cases too large for the emulated GPU come last.
    return min(chosen, key=lambda case: case.on is not None)


@app.command("profile")
def profile_here(
    file: options.File,
    challenge: options.Challenge = None,
    language: options.LanguageOption = None,
    workload: Annotated[
        str | None,
        typer.Option(
            "--workload", metavar="NAME", help="Count this workload (default: the emulated board's)."
        ),
    ] = None,
    ptx: Annotated[
        bool, typer.Option("--ptx", help="Also print the PTX instructions that each line became.")
    ] = False,
    box: Box = "local",
    json: options.Json = False,
) -> int:
    """Count the work of a file's kernels line by line, without a GPU, and name what limits their time."""
    if not sys.platform.startswith("linux"):
        raise NotAllowed("The emulated GPU needs Linux.", "Submit to a server: grader submit")
    from grader.challenge.source import language_of

    source = options.read_source(file)
    chosen = language_of(file.name, language)
    loaded = catalogue.local_catalogue().load(catalogue.challenge_of(file, challenge, local=True))
    if wrong := syntax_error(source, chosen):
        return _finish(_not_python(loaded, chosen, source, wrong, EMULATED), file, json)

    from grader.judge.at_home import profile_at_home
    from grader.sandbox.choose import make_boxes
    from grader.settings import Settings

    with Display() as display:
        report = profile_at_home(
            loaded,
            source,
            chosen,
            make_boxes(box, Settings().sandbox),
            workload=workload,
            on_progress=lambda news: display.show(news.state, news.progress),
        )
    if json or not report.workloads:
        return _finish(report, file, json)
    for each in report.workloads:
        put_profile(each, source, ptx=ptx)
    return exit_code(report.verdict)


def _finish(report: Report, file: Path, json: bool) -> int:
    if json:
        put_json(report)
    else:
        put_report(report, str(file))
    return exit_code(report.verdict)


def _not_python(challenge: Challenge, language: Language, source: str, wrong: str, device: str) -> Report:
    """Starts no box, which takes seconds."""
    from grader.challenge.pattern import cases_on

    return Report(
        verdict=Verdict.COMPILE_ERROR,
        challenge=challenge.slug,
        version=challenge.manifest.version,
        language=language,
        device=device,
        representative=False,
        score=Score(total=len(cases_on(challenge, kind_of(device)))),
        detail=wrong,
        hint=looks_like(source, language),
    )


class Display:
    """A live line on a terminal, else one for each state."""

    def __init__(self) -> None:
        self._live = aside().is_terminal
        self._status = Status("Starting the judge", console=aside()) if self._live else None
        self._last: State | None = None

    def __enter__(self) -> Display:
        if self._status is not None:
            self._status.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._status is not None:
            self._status.stop()

    def show(self, state: State, progress: ProgressView) -> None:
        if self._status is not None:
            self._status.update(_line(state, progress))
        elif state is not self._last:
            aside().print(Text(state.value))
        self._last = state


def _line(state: State, progress: ProgressView) -> Text:
    line = Text()
    for phase in PHASES if state in PHASES else (state,):
        line.append(" > " if line else "", "dim")
        line.append(phase.value, "bold cyan" if phase is state else "dim")
    return line.append_text(safe(f"  {progress.label}", "dim")) if progress.label else line
