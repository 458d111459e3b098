"""`challenge`: the teacher's commands."""

from __future__ import annotations

import difflib
import json as jsons
import re
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bar
from rich.table import Table
from rich.text import Text

from grader.cli import options, publication, uploads
from grader.cli.catalogue import local_catalogue
from grader.cli.client import connect, segment, understood
from grader.cli.command import make_app
from grader.cli.terminal import aside, busy, out, put_json, put_table, safe, say, tell
from grader.device_kinds import kind_of
from grader.errors import EXIT_ACCEPTED, EXIT_NOT_ACCEPTED, BadRequest
from grader.languages import Language
from grader.schemas.proof import Check, Proof, Proofs, Status
from grader.schemas.version import ChangeView, VersionContent, VersionDiff

if TYPE_CHECKING:
    from grader.challenge.catalogue import Catalogue
    from grader.challenge.fingerprint import Content
    from grader.challenge.loader import Challenge


app = make_app()
challenge = make_app()
app.add_typer(challenge, name="challenge", help="Write, prove and publish challenges.")
publication.register(challenge)
uploads.register(challenge)
Difficulty = Literal["easy", "medium", "hard"]


@challenge.command()
def new(
    slug: Annotated[
        str, typer.Argument(metavar="SLUG", help="The folder's name: lower-case letters, digits, _.")
    ],
    title: Annotated[str | None, typer.Option("--title", help="The title that students see.")] = None,
    track: Annotated[str | None, typer.Option("--track", help="A track of challenges/tracks.toml.")] = None,
    difficulty: Annotated[Difficulty, typer.Option("--difficulty", help="How hard it is.")] = "easy",
    signature: Annotated[
        str | None,
        typer.Option("--signature", metavar="TEXT", help="Such as 'twice(x: f32[n]) -> out: f32[n]'."),
    ] = None,
    reference: Annotated[
        str | None,
        typer.Option(
            "--reference", metavar="PYTORCH|FILE", help="Such as 'x + x'; without it, an example to edit."
        ),
    ] = None,
    tolerance: Annotated[
        str | None,
        typer.Option(
            "--tolerance", metavar="exact|ATOL,RTOL", help="Without it, by the reference's own errors."
        ),
    ] = None,
    flops: Annotated[
        str | None,
        typer.Option("--flops", metavar="memory|EXPR", help="Operations in the sizes, or memory-bound."),
    ] = None,
    language: Annotated[
        list[str] | None, typer.Option("--language", "-l", help="A language. Repeatable; default: all.")
    ] = None,
    arg: Annotated[
        list[str] | None,
        typer.Option(
            "--arg",
            metavar="NAME:KIND[:DTYPE[:SHAPE]]",
            help="In place of --signature: an argument, such as x:input:float32:rows,cols. Repeatable.",
        ),
    ] = None,
    workload: Annotated[
        list[str] | None,
        typer.Option(
            "--workload",
            metavar="SIZE=N,...",
            help="The sizes of a workload. Repeatable; missing sizes are added.",
        ),
    ] = None,
    gpus: Annotated[int, typer.Option("--gpus", min=1, help="How many GPUs one submission runs on.")] = 1,
) -> int:
    """Write a new challenge: reference, cases, mutants, spec. Asks for what the options leave open."""
    catalogue = local_catalogue(beginning=True)
    from grader.authoring.scaffold.folder import check_free
    from grader.cli.new_challenge import Asked, write

    check_free(catalogue, slug)
    asked = Asked(
        slug=slug,
        title=title,
        track=track or _ask_track([known.title for known in catalogue.curriculum.tracks]),
        difficulty=difficulty,
        signature=signature,
        reference=reference,
        tolerance=tolerance,
        flops=flops,
        languages=language,
        args=arg or [],
        workloads=workload or [],
        gpus=gpus,
    )
    write(catalogue, asked, ask)
    return EXIT_ACCEPTED


@challenge.command(name="import")
def import_(
    origin: Annotated[
        str,
        typer.Argument(
            metavar="PATH",
            help="A file of KernelBench, a folder of LeetGPU, Tensara or GPU MODE; or a git URL#PATH.",
        ),
    ],
    slug: Annotated[
        str | None, typer.Option("--slug", help="The folder's name; default: from its title.")
    ] = None,
    track: Annotated[str | None, typer.Option("--track", help="A track of challenges/tracks.toml.")] = None,
    difficulty: Annotated[Difficulty, typer.Option("--difficulty", help="How hard it is.")] = "medium",
    solution: Annotated[
        Path | None,
        typer.Option("--solution", metavar="FILE", help="A published solution of it, which runs unchanged."),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="You may use it under its licence.")] = False,
) -> int:
    """Make a challenge of another platform's problem, and list the remaining steps. Runs the problem's
    Python.
    """
    catalogue = local_catalogue(beginning=True)
    from grader.authoring.importing.challenge import write_imported
    from grader.authoring.importing.source import local_copy, read
    from grader.authoring.scaffold.folder import check_free

    with local_copy(origin) as path:
        with busy("Reading it"):
            problem = read(origin, path)
        licence = problem.licence
        if licence.asks and not yes and not _allowed(licence.name, licence.asks):
            raise BadRequest("Nothing was written.", "With --yes you say that you may use it.")
        name = slug or re.sub(r"\W+", "_", str(problem.found["title"]).lower()).strip("_")[:64]
        check_free(catalogue, name)
        chosen = track or _ask_track([known.title for known in catalogue.curriculum.tracks])
        with busy("Trying its edge cases"):
            published = options.read_source(solution) if solution is not None else ""
            folders, left = write_imported(catalogue, problem, name, chosen, difficulty, published)
    for folder in folders:
        tell(str(folder))
    from grader.cli.authoring import add_to

    add_to(catalogue, name)
    say("Left to do:", "bold")
    for line in left:
        tell(f"- {line}")
    say(f"Then check it: grader challenge check {name}", "green")
    return EXIT_ACCEPTED


@challenge.command()
def export(
    slug: options.Slug,
    path: Annotated[Path, typer.Argument(metavar="PATH", help="The folder to write; it must not exist.")],
    to: Annotated[str, typer.Option("--to", metavar="FORM", help="kernelbench, gpumode or kattis.")],
) -> int:
    """Write a challenge in another platform's form: its public cases, nothing hidden."""
    catalogue = local_catalogue()
    from grader.authoring.exporting.export import export as exported
    from grader.authoring.exporting.exported import write

    with busy("Writing it"):
        found = exported(catalogue.load(slug), to)
        write(found, path)
    tell(str(path))
    for line in found.lost:
        tell(f"- {line}")
    return EXIT_ACCEPTED


def _allowed(name: str, asks: str) -> bool:
    """Raises BadRequest without a terminal."""
    words = f"Its licence ({name or 'none'}) {asks}."
    if not sys.stdin.isatty():
        raise BadRequest(words, "If you may use it, say so with --yes.")
    return bool(typer.confirm(f"{words} May you use it?", default=False, err=True))


def ask(what: str, default: str) -> str:
    """``default`` without a terminal."""
    if not sys.stdin.isatty():
        return default
    return str(typer.prompt(what, default=default, err=True))


def _ask_track(tracks: list[str]) -> str:
    """No track is a good default: raises BadRequest without a terminal."""
    if not sys.stdin.isatty():
        known = f"The tracks are: {', '.join(tracks)}." if tracks else "There are none yet; use any text."
        raise BadRequest("A challenge needs a track: --track NAME.", known)
    return ask(f"Track ({', '.join(tracks)})" if tracks else "Track", tracks[0] if tracks else "course")


@challenge.command()
def check(
    slugs: Annotated[
        list[str] | None,
        typer.Argument(metavar="[SLUG...]", help="The challenges to check, and chapters as chapters/SLUG."),
    ] = None,
    every: Annotated[
        bool, typer.Option("--all", help="Every challenge and chapter of the catalogue.")
    ] = False,
    changed: Annotated[
        bool,
        typer.Option(
            "--changed", help="The challenges that differ from the default branch; without git, all."
        ),
    ] = False,
    device: Annotated[
        str,
        typer.Option(
            "--device", "-d", metavar="NAME", help="cpu, emulated, or a GPU of this machine, such as h200."
        ),
    ] = "cpu",
    gpu: Annotated[
        str, typer.Option("--gpu", metavar="LIST", help="The GPUs to use: numbers, UUIDs, or all.")
    ] = "0",
    language: options.LanguageOption = None,
    jobs: Annotated[
        int,
        typer.Option("--jobs", "-j", min=0, metavar="N", help="How many processes; 0: one for each core."),
    ] = 0,
    matrix: Annotated[
        bool,
        typer.Option("--matrix", help="Run wrong kernels on every case, not just up to their first failure."),
    ] = False,
    watch: Annotated[
        bool,
        typer.Option("--watch", help="Check again at each change, only what it touches. Ctrl-C ends it."),
    ] = False,
    fix: Annotated[
        bool,
        typer.Option("--fix", help="Add cases that close holes to cases.py, and mutants up to eight."),
    ] = False,
    html: Annotated[
        Path | None, typer.Option("--html", metavar="FILE", help="Also write the findings as a page.")
    ] = None,
    json: options.Json = False,
) -> int:
    """Prove challenges: right kernels pass, wrong kernels fail, every claim holds."""
    catalogue = local_catalogue()
    _ = catalogue.curriculum  # raises if tracks.toml is broken; challenges would load without it
    chapters = _chapters(catalogue, slugs or [], every)
    named = [slug for slug in slugs or [] if slug not in chapters]
    chosen = _chosen(catalogue, named, every, changed) if named or not chapters else []
    from grader.authoring.chapters import with_chapters
    from grader.authoring.proof import Options, prove
    from grader.queue.gpus import chosen_gpus

    only = options.language(language)
    gpus = (0,) if kind_of(device).gpus is None else tuple(card.index for card in chosen_gpus(gpu))
    wanted = Options(device, (only,) if only else tuple(Language), jobs, matrix or html is not None, gpus)
    if watch:
        from grader.cli.authoring import watched

        if len(chosen) != 1 or json or fix or html:
            raise BadRequest("--watch takes one challenge, and neither --json, --fix nor --html.")
        return EXIT_ACCEPTED if watched(catalogue.root, chosen[0], wanted) else EXIT_NOT_ACCEPTED
    with ProofProgress() as progress:
        proofs = prove(catalogue.root, chosen, wanted, progress.show)
        proofs = with_chapters(proofs, catalogue, chapters)
    if json:
        put_json(proofs)
    else:
        put_proofs(proofs)
    if html is not None:
        from grader.authoring.proof_page import proof_page

        html.write_text(proof_page(proofs), encoding="utf-8")
    if fix:
        from grader.cli.authoring import fixed

        fixed(catalogue, proofs, wanted)
    return EXIT_ACCEPTED if proofs.strong else EXIT_NOT_ACCEPTED


def _chapters(catalogue: Catalogue, slugs: list[str], every: bool) -> list[str]:
    """Those that are chosen, as ``chapters/SLUG``."""
    from grader.challenge.chapters import FOLDER

    if every:
        return [f"{FOLDER}/{chapter.slug}" for chapter in catalogue.chapters()]
    return list(dict.fromkeys(slug for slug in slugs if slug.startswith(f"{FOLDER}/")))


def _chosen(catalogue: Catalogue, slugs: list[str], every: bool, changed: bool) -> list[str]:
    """Raises BadRequest unless they are chosen in exactly one way."""
    if bool(slugs) + every + changed != 1:
        raise BadRequest("Which challenges?", "Name them, or use --all or --changed.")
    if slugs:
        for slug in slugs:
            catalogue.load(slug) if slug not in catalogue.slugs() else None
        return list(dict.fromkeys(slugs))
    if every:
        return catalogue.slugs()
    from grader.authoring.changed import changed_slugs

    found = changed_slugs(catalogue.root, catalogue.slugs())
    return catalogue.slugs() if found is None else found


_COLOURS = {"added": "green", "removed": "red", "changed": "yellow"}
_PARTS = {"args": "signature", "allow": "allowed libraries"}
_MAX_LINES = 12


@challenge.command()
def diff(
    slug: options.Slug,
    against: Annotated[
        str,
        typer.Option(
            "--against",
            metavar="GITREF|VERSION",
            help="A commit, branch or tag, or a version number on the platform.",
        ),
    ] = "HEAD",
    json: options.Json = False,
) -> int:
    """Show the changes of a challenge, and whether they need a new version number."""
    catalogue = local_catalogue()
    found = _compare(catalogue, catalogue.load(slug), against)
    if json:
        put_json(found)
    else:
        _show(found)
    return EXIT_NOT_ACCEPTED if found.needs_version else EXIT_ACCEPTED


def _compare(catalogue: Catalogue, challenge: Challenge, against: str) -> VersionDiff:
    from grader.challenge.fingerprint import changes, content

    if against.isdecimal():
        version, before = int(against), _of_platform(challenge.slug, int(against))
    else:
        version, before = _of_git(catalogue, challenge.slug, against)
    after = content(challenge)
    found = [
        ChangeView(
            part=change.part, name=change.name, kind=change.kind, before=change.before, after=change.after
        )
        for change in changes(before, after)
    ]
    return VersionDiff(
        challenge=challenge.slug,
        against=against,
        version_before=version,
        version_after=challenge.manifest.version,
        changes=found,
        needs_version=bool(found) and challenge.manifest.version <= version,
    )


def _of_platform(slug: str, version: int) -> Content:
    found = connect().get(f"/challenges/{segment(slug)}/versions/{version}")
    return understood(VersionContent, found).content


def _of_git(catalogue: Catalogue, slug: str, reference: str) -> tuple[int, Content]:
    from grader.challenge.earlier import at_reference
    from grader.challenge.fingerprint import content

    with at_reference(catalogue, slug, reference) as earlier:
        return earlier.manifest.version, content(earlier)


def _show(found: VersionDiff) -> None:
    for change in found.changes:
        name = f" {change.name}" if change.name else ""
        part = _PARTS.get(change.part, change.part.replace("_", " "))
        out().print(Text(f"{change.kind:<8}", _COLOURS[change.kind]), safe(f"{part}{name}", "bold"))
        for line in _lines(change):
            out().print(safe(f"           {line}"), soft_wrap=True)
    if not found.changes:
        say(f"{found.challenge} judges like '{found.against}': no new version is needed.", "green")
    elif found.needs_version:
        say(
            f"{found.challenge} judges differently from '{found.against}' under the same version: "
            f"set `version = {found.version_before + 1}` in its challenge.toml.",
            "yellow",
        )
    else:
        say(
            f"From version {found.version_before} to version {found.version_after}: the version number is right.",
            "green",
        )


def _lines(change: ChangeView) -> list[str]:
    if change.kind != "changed":
        return []
    if isinstance(change.before, str) and isinstance(change.after, str):
        diff = difflib.unified_diff(change.before.splitlines(), change.after.splitlines(), n=0, lineterm="")
        lines = [line for line in diff if not line.startswith(("---", "+++", "@@"))]
    else:
        lines = list(_leaves("", change.before, change.after))
    hidden = len(lines) - _MAX_LINES
    return lines if hidden <= 0 else [*lines[:_MAX_LINES], f"and {hidden} more lines"]


def _leaves(where: str, before: Any, after: Any) -> Iterator[str]:
    """Gives lines such as ``sizes.n: 7 -> 11``."""
    old, new = _named(before), _named(after)
    if old is None or new is None:
        if before != after:
            yield f"{where}: {_text(before)} -> {_text(after)}"
        return
    for key in {**old, **new}:
        yield from _leaves(f"{where}.{key}" if where else key, old.get(key), new.get(key))


def _named(value: Any) -> dict[str, Any] | None:
    if isinstance(value, dict):
        return value
    if isinstance(value, list) and all(isinstance(each, dict) for each in value):
        return {str(each.get("name", place)): each for place, each in enumerate(value)}
    return None


def _text(value: Any) -> str:
    return "none" if value is None else jsons.dumps(value)


# A check without output for this time reports its work.
_QUIET_SECONDS = 60.0
_STATUS_COLOURS = {Status.OK: "green", Status.WEAK: "yellow", Status.ERROR: "bold red", Status.SKIPPED: "dim"}


class ProofProgress:
    """A live line on a terminal, else one for each tenth, and for each minute without any."""

    def __init__(self) -> None:
        self._bar = Bar(
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("{task.description}"),
            console=aside(),
            transient=True,
            disable=not aside().is_terminal,
        )
        self._tenth = 0
        self._began = self._said = time.monotonic()
        self._task = self._bar.add_task("starting", total=None)

    def __enter__(self) -> ProofProgress:
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.stop()

    def show(self, done: int, total: int, label: str) -> None:
        self._bar.update(self._task, completed=done, total=total, description=label)
        tenth = 10 * done // total
        now = time.monotonic()
        if not aside().is_terminal and (tenth > self._tenth or now - self._said >= _QUIET_SECONDS):
            say(f"{done} of {total} done after {now - self._began:.0f} s: {label}")
            self._said = now
        self._tenth = tenth


def put_proofs(proofs: Proofs) -> None:
    for proof in proofs.challenges:
        _put_proof(proof)
    strong = sum(proof.strong for proof in proofs.challenges)
    style = "bold green" if proofs.strong else "bold red"
    summary = f"{strong} of {len(proofs.challenges)} proven on {proofs.device} in {proofs.seconds:.0f} s"
    out().print(Text(summary, style))


def _put_proof(proof: Proof) -> None:
    out().print(safe(proof.slug, "bold"), Text(f"{proof.seconds:.1f} s", "dim"))
    table = Table(box=None, pad_edge=True, show_header=False)
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for check in proof.checks:
        table.add_row(
            Text(check.status.value, _STATUS_COLOURS[check.status]), safe(check.name), _check_text(check)
        )
    put_table(table)
    out().print()


def _check_text(check: Check) -> Text:
    text = safe(check.summary)
    for line in check.details:
        text.append("\n- ").append_text(safe(line))
    for line in check.remarks:
        text.append("\n  ").append_text(safe(line, "dim"))
    return text
