"""`grader challenge check --watch` and `--fix`, and a new challenge's mutants."""

from __future__ import annotations

import time
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from rich.text import Text

from grader.authoring.holes import append_cases
from grader.authoring.mutants import Added, add_mutants
from grader.authoring.proof import Options
from grader.authoring.trial import Trial
from grader.authoring.watch import Round, Watch, stamp
from grader.challenge.catalogue import Catalogue
from grader.cli.terminal import busy, out, safe, say
from grader.device_kinds import CPU
from grader.errors import BadRequest
from grader.judge.device import make_device
from grader.judge.tuning import tune
from grader.sandbox.forked_box import ForkedBoxes
from grader.schemas.proof import CandidateOutcome, CandidateRole, Check, Proof, Proofs

_LOOK_SECONDS = 0.25
_NAMED = 6


def add_to(catalogue: Catalogue, slug: str, device: str = CPU, gpu: int = 0) -> None:
    """Raises BoxUnavailable."""
    boxes = ForkedBoxes()
    try:
        with busy("Making mutants"):
            trial = Trial(catalogue.load(slug), make_device(device, gpu), boxes)
            try:
                added = add_mutants(trial)
            finally:
                trial.close()
    finally:
        boxes.close()
    _put_added(added)


def _put_added(added: Added) -> None:
    if added.removed:
        say(f"Removed, because their solution changed: {', '.join(added.removed)}.")
    if added.written:
        first = ", ".join(f"{name} ({case})" for name, case in added.written.items())
        say(f"{len(added.written)} mutants, each with a case that it fails: {first}.")
    if added.undecided:
        say(
            f"Tried for some seconds without a failure, and not written: {', '.join(added.undecided)}.", "dim"
        )
    for line in added.equivalent:
        say(f"No case was found for {line} It may be right, and was not written.", "dim")
    for name, closing in added.holes.items():
        say(f"The suite lets {name} pass. It fails this one, for cases.py:", "yellow")
        out().print(safe(closing.text.strip()), soft_wrap=True)


def fixed(catalogue: Catalogue, proofs: Proofs, options: Options) -> None:
    """Adds cases to ``cases.py``, and mutants until there are eight."""
    for proof in proofs.challenges:
        if any(check.name == "manifest" and check.status.fails for check in proof.checks):
            continue
        lines = list(dict.fromkeys(result.proposed for result in proof.tried if result.proposed))
        if lines:
            path = catalogue.load(proof.slug).folder / "cases.py"
            try:
                append_cases(path, lines)
            except BadRequest as error:
                say(error.told, "yellow")
            else:
                say(f"{path}: {len(lines)} added.", "green")
        if failing := _failing_solutions(proof):
            say(
                f"No mutants yet: {'; '.join(failing)}. A mutant of a wrong solution proves nothing; mend it, and run "
                "--fix again.",
                "yellow",
            )
            continue
        add_to(Catalogue(catalogue.root), proof.slug, options.device, options.gpus[0])


def _failing_solutions(proof: Proof) -> list[str]:
    return [
        f"{result.name} fails {result.detail.rstrip('.')}"
        for result in proof.tried
        if result.role is CandidateRole.SOLUTION
        and result.ending in (CandidateOutcome.FAILED, CandidateOutcome.BROKEN)
    ]


def watched(root: Path, slug: str, options: Options) -> bool:
    """Returns whether the last round was strong."""
    tune()
    boxes = ForkedBoxes()
    watch = Watch(root, slug, make_device(options.device, options.gpus[0]), boxes, tuple(options.languages))
    strong = False
    try:
        before: dict[str, tuple[int, int]] = {}
        while True:
            now = stamp(root, slug)
            if now != before:
                changed = [name for name in {**before, **now} if before.get(name) != now.get(name)]
                with busy("Checking"):
                    found = watch.round()
                _put_round(found, changed if before else [])
                strong, before = found.strong, now
            time.sleep(_LOOK_SECONDS)
    except KeyboardInterrupt:
        return strong
    finally:
        watch.close()
        boxes.close()


def _put_round(found: Round, changed: Sequence[str]) -> None:
    judged = (
        f"{len(found.judged)} judged in {sum(found.judged.values())} cases" if found.judged else "none judged"
    )
    named = ", ".join(Path(name).name for name in changed[:_NAMED]) + (
        ", ..." if len(changed) > _NAMED else ""
    )
    what = f"{named}: " if changed else ""
    line = (
        f"{datetime.now():%H:%M:%S} {what}{len(found.redone)} checks redone, {judged}, {found.seconds:.1f} s"
    )
    out().print(safe(line, "bold"), soft_wrap=True)
    for check in found.checks:
        if check.status.fails:
            out().print(_failing(check), soft_wrap=True)
    if found.strong:
        out().print(Text("everything holds; approximations are left to a check without --watch", "green"))


def _failing(check: Check) -> Text:
    lines = [
        f"  {check.status.value} {check.name}: {check.summary}",
        *(f"    - {line}" for line in check.details),
    ]
    return safe("\n".join(lines), "yellow")
