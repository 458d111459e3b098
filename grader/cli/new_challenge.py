from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from grader.authoring.scaffold.draft import DEFAULT_ARGS, FLOPS_HINT, Draft
from grader.authoring.scaffold.folder import write_challenge
from grader.authoring.scaffold.signature_line import SIGNATURE_HINT, read_constraints, read_signature
from grader.authoring.scaffold.stated import REFERENCE_HINT, TOLERANCE_HINT, read_tolerance, write_stated
from grader.challenge.catalogue import Catalogue
from grader.cli import options
from grader.cli.authoring import add_to
from grader.cli.terminal import busy, say, tell
from grader.device_kinds import CPU, EMULATED
from grader.errors import BadRequest
from grader.languages import Language, names, usual

# Returns the second text if nobody can answer.
Ask = Callable[[str, str], str]
_MEMORY = "memory"


@dataclass
class Asked:
    """None: ask."""

    slug: str
    title: str | None
    track: str
    difficulty: str
    signature: str | None
    reference: str | None
    tolerance: str | None
    flops: str | None
    languages: list[str] | None
    args: list[str]
    workloads: list[str]
    gpus: int = 1


def write(catalogue: Catalogue, asked: Asked, ask: Ask) -> None:
    """Raises BadRequest."""
    signature = asked.signature
    if signature is None and not asked.args:
        signature = ask(f"Signature. {SIGNATURE_HINT}", "")
    args = read_signature(signature) if signature else asked.args or DEFAULT_ARGS
    said = asked.reference
    if said is None and signature:
        said = ask(f"Reference in PyTorch. {REFERENCE_HINT} Empty: an example", "")
    tolerance = flops = ""
    if asked.gpus > 1 and not said:
        raise BadRequest("The example is for one GPU.", "Give --signature and --reference with --gpus.")
    if said:
        tolerance = (
            asked.tolerance if asked.tolerance is not None else ask(f"Tolerance: {TOLERANCE_HINT}", "")
        )
        flops = asked.flops if asked.flops is not None else ask(f"Bound: {FLOPS_HINT}", _MEMORY)
    default = ",".join(language.value for language in usual())
    named = asked.languages or ask(f"Languages ({names()})", default).split(",")
    languages = [found for name in named if (found := options.language(name.strip())) is not None]
    draft = Draft(
        slug=asked.slug,
        title=asked.title or asked.slug.replace("_", " ").capitalize(),
        track=asked.track,
        difficulty=asked.difficulty,
        gpus=asked.gpus,
        args=args,
        workloads=asked.workloads,
        languages=languages,
        constraints=read_constraints(signature) if signature else (),
        flops="" if flops in ("", _MEMORY) else flops,
    )
    dropped, advice = list[str](), ""
    if said:
        with busy("Trying its edge cases"):
            written = write_stated(catalogue, draft, said, read_tolerance(tolerance))
        folders, dropped, advice = written.folders, written.dropped, written.advice
    else:
        folders = write_challenge(catalogue, draft)
    for folder in folders:
        tell(str(folder))
    if dropped:
        say(f"Left out, because the reference does not answer them: {', '.join(dropped)}.", "yellow")
    if advice:
        say(advice, "yellow")
    add_to(catalogue, asked.slug, EMULATED if asked.gpus > 1 else CPU)
    _say_rest(asked.slug, folders[1], bool(said), languages)


def _say_rest(slug: str, reference: Path, stated: bool, languages: list[Language]) -> None:
    if stated:
        files = " and ".join(f"solution{language.suffix}" for language in languages)
        say(
            f"Left to do: {files} in {reference / 'staff'}, then mutants of them with --fix; the spec's text."
        )
        say(f"Check it as you go: grader challenge check {slug} --watch", "green")
    else:
        say(f"It is a working example. Edit it, then check it: grader challenge check {slug}", "green")
