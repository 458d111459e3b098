"""`challenge`: the teacher's commands. `check` proves that a challenge's suite is strong."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from grader.cli import catalogue, options
from grader.cli.command import make_app
from grader.cli.version_diff import diff
from grader.errors import EXIT_ACCEPTED, EXIT_NOT_ACCEPTED, BadRequest

if TYPE_CHECKING:
    from grader.challenge.loader import Course

app = make_app()
challenge = make_app()
app.add_typer(challenge, name="challenge", help="Write and prove challenges.")
challenge.command()(diff)


@challenge.command()
def check(
    slugs: Annotated[list[str] | None, typer.Argument(metavar="[SLUG...]", help="Which challenges.")] = None,
    every: Annotated[bool, typer.Option("--all", help="Every challenge of the course.")] = False,
    changed: Annotated[
        bool, typer.Option("--changed", help="Those that differ from the default branch; all without git.")
    ] = False,
    device: Annotated[
        str,
        typer.Option("--device", "-d", metavar="NAME", help="cpu, or a GPU of this machine, such as h200."),
    ] = "cpu",
    language: options.LanguageOption = None,
    jobs: Annotated[
        int, typer.Option("--jobs", "-j", min=0, metavar="N", help="Processes; 0 = one for each core.")
    ] = 0,
    matrix: Annotated[
        bool, typer.Option("--matrix", help="Run wrong kernels on every case, not up to their first failure.")
    ] = False,
    json: options.Json = False,
) -> int:
    """Prove challenges: right kernels pass, wrong ones fail, every claim holds."""
    course = catalogue.course()
    chosen = _chosen(course, slugs or [], every, changed)
    from grader.authoring.proof import Options, prove
    from grader.cli.proof_view import Progress, put_proofs
    from grader.cli.terminal import put_json
    from grader.schemas.report import Language

    only = options.language(language)
    wanted = Options(device, (only,) if only else tuple(Language), jobs, matrix)
    with Progress() as progress:
        proofs = prove(course.root, chosen, wanted, progress.show)
    if json:
        put_json(proofs)
    else:
        put_proofs(proofs)
    return EXIT_ACCEPTED if proofs.strong else EXIT_NOT_ACCEPTED


def _chosen(course: Course, slugs: list[str], every: bool, changed: bool) -> list[str]:
    """The slugs that the command line asks for. Raises BadRequest where it asks in no way, or in two."""
    if bool(slugs) + every + changed != 1:
        raise BadRequest("Which challenges?", "Name some, or say --all, or --changed.")
    if slugs:
        for slug in slugs:
            course.load(slug) if slug not in course.slugs() else None
        return list(dict.fromkeys(slugs))
    if every:
        return course.slugs()
    from grader.authoring.changed import changed_slugs

    found = changed_slugs(course.root, course.slugs())
    return course.slugs() if found is None else found
