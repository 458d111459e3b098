"""`run`: a file by the public cases alone, on the server; it counts for nothing."""

from __future__ import annotations

from grader.cli import catalogue, config, options
from grader.cli.answers import understood
from grader.cli.client import connect
from grader.cli.command import make_app
from grader.cli.commands.submissions import hand_in
from grader.cli.follow import to_the_end
from grader.cli.syntax import check_syntax
from grader.cli.terminal import say
from grader.schemas.submission import RunBody, SubmissionView

app = make_app()

# So few runs left are worth a word.
_FEW_LEFT = 5


@app.command()
def run(
    file: options.File,
    challenge: options.Challenge = None,
    language: options.LanguageOption = None,
    device: options.Device = None,
    timeout: options.Timeout = 0.0,
    check: options.Check = True,
    json: options.Json = False,
    server: options.Server = None,
) -> int:
    """Run a file on the server by the public cases alone: no rank, no attempt, no times."""
    from grader.challenge.source import decode, language_of

    source = decode(options.read_source(file))
    chosen = language_of(file.name, language)
    if check:
        check_syntax(str(file), source, chosen)
    body = RunBody(
        challenge=catalogue.challenge_of(file, challenge, local=False),
        language=chosen,
        source=source,
        filename=file.name,
        device=device or config.text("device"),
    )
    client = connect()
    view = understood(SubmissionView, hand_in(client, "/runs", body.model_dump(mode="json")))
    if view.remaining is not None and view.remaining <= _FEW_LEFT:
        say(f"{view.remaining} more runs are taken for now.", "yellow")
    say(f"Run {view.id} of {view.challenge} on {view.device}.", "dim")
    code = to_the_end(client, view.id, timeout, json="report" if json else "", filename=str(file))
    say("Only a run: `grader submit` judges hidden cases, too, and times it.", "dim")
    return code
