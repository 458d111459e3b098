"""`challenge`: the teacher's commands. `new` writes a challenge to begin from, `check` proves that its suite is strong,
`diff` says what changed since a version."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Literal, get_args

import typer

from grader.cli import catalogue, options
from grader.cli.command import make_app
from grader.cli.version_diff import diff
from grader.errors import EXIT_ACCEPTED, EXIT_NOT_ACCEPTED, BadRequest

if TYPE_CHECKING:
    from grader.challenge.course import Course

app = make_app()
challenge = make_app()
app.add_typer(challenge, name="challenge", help="Make challenges, prove them, compare their versions.")
Difficulty = Literal["easy", "medium", "hard"]


@challenge.command()
def new(
    slug: Annotated[str, typer.Argument(metavar="SLUG", help="Its folder's name: small letters, digits, _.")],
    title: Annotated[str | None, typer.Option("--title", help="What students see.")] = None,
    track: Annotated[str | None, typer.Option("--track", help="A title of challenges/tracks.toml.")] = None,
    difficulty: Annotated[Difficulty | None, typer.Option("--difficulty", help="How hard it is.")] = None,
    order: Annotated[int, typer.Option("--order", min=0, help="Its place within the track.")] = 100,
    arg: Annotated[
        list[str] | None,
        typer.Option(
            "--arg", metavar="NAME:KIND[:DTYPE[:SHAPE]]", help="As x:input:float32:rows,cols. Repeat."
        ),
    ] = None,
    workload: Annotated[
        list[str] | None,
        typer.Option(
            "--workload", metavar="SIZE=N,...", help="A size to time at. Repeat. Completed to a ladder."
        ),
    ] = None,
) -> int:
    """Write a new challenge that passes its own checks; asks for what no option says."""
    course = catalogue.course(beginning=True)
    from grader.authoring.scaffold.draft import DEFAULT_ARGS, Draft
    from grader.authoring.scaffold.folder import check_free, write_challenge
    from grader.cli.terminal import say, tell

    check_free(course, slug)
    draft = Draft(
        slug=slug,
        title=title or _ask("Title", slug.replace("_", " ").capitalize()),
        track=track or _ask_track([it.title for it in course.curriculum.tracks]),
        difficulty=difficulty or _ask(f"Difficulty ({', '.join(get_args(Difficulty))})", "easy"),
        order=order,
        args=arg or _ask_args() or DEFAULT_ARGS,
        workloads=workload or _ask_workloads(),
    )
    for folder in write_challenge(course, draft):
        tell(str(folder))
    say(f"It computes an example. Make it yours, then prove it: grader challenge check {slug}", "green")
    return EXIT_ACCEPTED


def _ask(what: str, default: str) -> str:
    """What a person at the terminal answers; ``default`` where nobody is there to ask."""
    if not sys.stdin.isatty():
        return default
    return str(typer.prompt(what, default=default, err=True))


def _ask_track(tracks: list[str]) -> str:
    """Raises BadRequest where nobody can be asked: a track is no matter of taste."""
    if not sys.stdin.isatty():
        raise BadRequest("Which track?", f"--track is one of: {', '.join(tracks) or 'any words'}.")
    return _ask(f"Track ({', '.join(tracks)})" if tracks else "Track", tracks[0] if tracks else "course")


def _ask_args() -> list[str]:
    from grader.authoring.scaffold.draft import ARG_HINT

    return _ask_lines(f"Argument {ARG_HINT} Empty: no more")


def _ask_workloads() -> list[str]:
    from grader.authoring.scaffold.draft import WORKLOAD_HINT

    return _ask_lines(f"Workload {WORKLOAD_HINT} Empty: no more")


def _ask_lines(what: str) -> list[str]:
    lines: list[str] = []
    while line := _ask(what, "").strip():
        lines.append(line)
    return lines


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
    gpu: Annotated[
        str, typer.Option("--gpu", metavar="LIST", help="Of several GPUs: numbers, UUIDs, or all.")
    ] = "0",
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
    _ = course.curriculum  # raises where tracks.toml is broken: challenges load without it
    chosen = _chosen(course, slugs or [], every, changed)
    from grader.authoring.proof import Options, prove
    from grader.cli.proof_view import Progress, put_proofs
    from grader.cli.terminal import put_json
    from grader.device_kinds import kind_of
    from grader.languages import Language
    from grader.queue.gpus import chosen_gpus

    only = options.language(language)
    gpus = (0,) if kind_of(device).gpus is None else tuple(it.index for it in chosen_gpus(gpu))
    wanted = Options(device, (only,) if only else tuple(Language), jobs, matrix, gpus)
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


challenge.command()(diff)
