"""How many mutants of the compiled solutions a suite finds: one instruction of the PTX is changed, and the public and
hidden cases run on the emulated GPU.

    python benchmarks/ptx_mutants.py [SLUG ...] [--count 200] [--seed N] [--jobs 2] [--json] [--show]

Each mutant of ``staff/solution.cu`` has one mistake: a barrier removed, a guard weakened or turned, another rounding, a
constant off by one, a stride doubled, operands swapped, another operation, a store left out, an atomic of another kind.
A mutant is killed by a wrong result, a fault, a race, an unwritten value, or too long a run. Mutants of instructions
that no case reaches are counted apart: they are dead code of the compiler (the unrolled rest of a short loop), or show
a size that the suite lacks. ``--show`` prints the survivors with the line of the source; some are equivalent: no input
shows a difference.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import select
import signal
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parent))

from results import keep, merged

from grader.challenge.cases import Case
from grader.challenge.catalogue import Catalogue, find_catalogue
from grader.challenge.loader import Challenge
from grader.judge.arena import Arena
from grader.judge.oracle import Question, ask, scalar_values
from grader.languages import Language
from grader.sandbox.emulator.device import HostEnded, driver
from grader.sandbox.emulator.fatbin import ptx_of, section_of
from tests.emulator.judging import SEED, Table, compile_source, reason_of

NAME = "ptx_mutants"
COUNT = 200
# A mutant that takes this many times the solution's time on a case, and at least some seconds, hangs.
_LATE, _LEAST_SECONDS = 20.0, 4.0
_LINE = re.compile(r"^\.loc\s+\d+ (\d+) \d+", re.MULTILINE)
_INSTRUCTION = re.compile(r"^(?P<guard>@!?%p\d+ )?(?P<op>[a-z][\w.]*(?:::\w+)*[\w.]*)(?P<rest>[ \t].*)?;$")
_INTEGER = re.compile(r"(?<![\w%.$+-])(\d+)(?=\s*$)")


@dataclass(frozen=True)
class Mutant:
    """``line``: of the source; ``place``: of the PTX, from 0; ``new``: the lines instead of ``old``."""

    kind: str
    line: int
    place: int
    old: str
    new: str

    def of(self, text: str) -> str:
        lines = text.split("\n")
        lines[self.place] = self.new
        return "\n".join(lines)

    @property
    def told(self) -> str:
        return f"{self.kind}, line {self.line}: {self.old} -> {self.new or '(nothing)'}"


Change = Callable[[str, str, str], Iterator[tuple[str, str]]]
_COMPARED = {"ge": "gt", "gt": "ge", "le": "lt", "lt": "le", "eq": "ne", "ne": "eq", "hs": "hi", "hi": "hs"}
_COMPARED |= {"lo": "ls", "ls": "lo", "geu": "gtu", "gtu": "geu", "leu": "ltu", "ltu": "leu", "neu": "equ"}
_OTHER = {"add": "sub", "sub": "add", "min": "max", "max": "min", "and": "or", "or": "xor", "mul": "add"}
_ROUNDED = {".rn.": ".rz.", ".rz.": ".rp.", ".rp.": ".rm.", ".rm.": ".rn."}


def _changes(guard: str, op: str, rest: str) -> Iterator[tuple[str, str]]:
    """Kind of mistake and the new line."""
    whole = f"{guard}{op}{rest};"
    parts = op.split(".")
    if parts[0] in ("bar", "barrier", "membar", "fence"):
        yield "barrier removed", ""
    if guard and op.startswith("bra"):
        turned = guard.replace("@!", "@") if "!" in guard else guard.replace("@", "@!")
        yield "guard turned", f"{turned}{op}{rest};"
        yield "guard removed", ""
    if parts[0] == "setp" and parts[1] in _COMPARED:
        yield "guard weakened", whole.replace(f"setp.{parts[1]}", f"setp.{_COMPARED[parts[1]]}", 1)
    if parts[0] in _OTHER and not op.startswith(("mul.wide", "mul.lo", "mul.hi")):
        yield "another operation", f"{guard}{'.'.join([_OTHER[parts[0]], *parts[1:]])}{rest};"
    for old, new in _ROUNDED.items():
        if old in f"{op}." and parts[0] in ("add", "sub", "mul", "fma", "div", "sqrt", "rcp", "cvt"):
            yield "another rounding", f"{guard}{op.replace(old.rstrip('.'), new.rstrip('.'), 1)}{rest};"
    if parts[0] in ("sub", "div", "rem", "shl", "shr", "setp", "selp"):
        operands = [part.strip() for part in rest.split(",")]
        if len(operands) == 3 and operands[1] != operands[2] and operands[2].startswith("%"):
            yield "operands swapped", f"{guard}{op} {operands[0]}, {operands[2]}, {operands[1]};"
    if (found := _INTEGER.search(rest)) and not op.startswith(("bar", "bra", "ld.param", "st.param", "shfl")):
        value = int(found[1])
        yield "constant off by one", f"{guard}{op}{rest[: found.start()]}{value + 1};"
        if parts[0] in ("mul", "shl") or op.startswith("mad"):
            doubled = value + 1 if parts[0] == "shl" else 2 * value
            yield "stride doubled", f"{guard}{op}{rest[: found.start()]}{doubled};"
    if op.startswith(("st.global", "st.shared", "st.volatile")):
        yield "store left out", ""
    if parts[0] in ("atom", "red") and ".add" in op and "f" not in parts[-1]:
        yield "another atomic", whole.replace(".add", ".max", 1)
    if op.startswith("shfl.sync.down"):
        yield "another shuffle", whole.replace("shfl.sync.down", "shfl.sync.up", 1)


def mutants_of(text: str) -> list[Mutant]:
    """All mutants of a program that read differently."""
    found, line, inside = [], 0, False
    for place, row in enumerate(text.split("\n")):
        inside = row == "{" or (inside and row != "}")
        if at := _LINE.match(row):
            line = int(at[1]) or line
        match = _INSTRUCTION.match(row)
        if not inside or match is None:
            continue
        for kind, new in _changes(match["guard"] or "", match["op"], match["rest"] or ""):
            if new != row:
                found.append(Mutant(kind, line, place, row, new))
    return found


def drawn(every: Sequence[Mutant], count: int, seed: int) -> list[Mutant]:
    """``count`` of them: of each kind the same number as far as there are, and random ones within."""
    dice = random.Random(seed)
    kinds: dict[str, list[Mutant]] = {}
    for mutant in every:
        kinds.setdefault(mutant.kind, []).append(mutant)
    for group in kinds.values():
        dice.shuffle(group)
    chosen: list[Mutant] = []
    while len(chosen) < count and any(kinds.values()):
        for kind in sorted(kinds):
            if kinds[kind] and len(chosen) < count:
                chosen.append(kinds[kind].pop())
    return chosen


@dataclass
class Suite:
    """A solution with its cases, the quickest first. ``seconds``: of the solution, by case."""

    challenge: Challenge
    library: Path
    questions: list[tuple[Case, Question]]
    seconds: dict[str, float]
    reached: frozenset[str] = frozenset()

    def reaches(self, mutant: Mutant) -> bool:
        # Branches are counted by their guard's row, and moves not at all.
        return _bare(mutant.old) in self.reached or mutant.old.split()[0].startswith("mov")

    def run(self, text: str | None) -> dict[str, Any]:
        """The first case that fails with the program ``text``, or none; of the library itself, ``reached``, too: the
        instructions that cases execute."""
        if text is not None:
            vars(driver)["ptx_of"] = lambda _: [text]
        table = Table(self.library, 1, gpus=self.challenge.manifest.gpus)
        seconds, reached = {}, set[str]()
        for case, question in self.questions:
            manifest = self.challenge.manifest
            arena = Arena(manifest, case.sizes, scalar_values(manifest, case), without=case.without)
            arena.reveal(question.inputs)
            began = time.perf_counter()
            try:
                returned = table.call(arena, counted=text is None)
            except HostEnded as ended:
                return {"case": case.name, "why": str(ended)}
            seconds[case.name] = time.perf_counter() - began
            if reason := reason_of(returned, arena, question):
                return {"case": case.name, "why": reason}
            arena.close()
            reached |= {_bare(row.ptx) for launch in returned.counted for row in launch.rows}
        return {"case": "", "why": "", "seconds": seconds, "reached": sorted(reached)}


def _bare(instruction: str) -> str:
    """Without guard, end and spaces."""
    return re.sub(r"^@!?%p\d+|[\s;]", "", instruction)


def _in_child(work: Callable[[], dict[str, Any]], seconds: float) -> dict[str, Any] | None:
    """What ``work`` returns in a forked process; None if it takes longer or dies."""
    reads, writes = os.pipe()
    child = os.fork()
    if child == 0:
        os.setsid()
        try:
            os.write(writes, json.dumps(work()).encode())
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(0)
    os.close(writes)
    found, end = b"", time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        if select.select([reads], [], [], left)[0]:
            part = os.read(reads, 1 << 16)
            if not part:
                break
            found += part
    os.close(reads)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    try:
        return dict(json.loads(found))
    except ValueError:
        return None


def prepared(catalogue: Catalogue, slug: str, folder: Path) -> tuple[Suite, str]:
    """Raises SystemExit if the solution itself fails."""
    challenge = catalogue.load(slug)
    source = challenge.reference_folder / "staff" / f"solution{Language.CUDA.suffix}"
    library = compile_source(challenge, source, folder)
    questions = [(case, ask(challenge, case, SEED)) for case in challenge.suite("cpu")]
    suite = Suite(challenge, library, questions, {})
    ran = _in_child(lambda: suite.run(None), 600)
    if ran is None or ran["why"]:
        raise SystemExit(f"{slug}: the solution fails: {ran}")
    suite.seconds, suite.reached = ran["seconds"], frozenset(ran["reached"])
    suite.questions.sort(key=lambda asked: suite.seconds[asked[0].name])
    return suite, ptx_of(section_of(library.read_bytes()))[-1]


def measure(suite: Suite, text: str, count: int, seed: int, jobs: int) -> dict[str, Any]:
    chosen = drawn(mutants_of(text), count, seed)
    most = max(_LEAST_SECONDS, _LATE * sum(suite.seconds.values()))

    def ending(mutant: Mutant) -> tuple[Mutant, dict[str, Any]]:
        found = _in_child(lambda: suite.run(mutant.of(text)), most)
        return mutant, found or {"case": "(any)", "why": "it does not end"}

    with ThreadPoolExecutor(jobs) as pool:
        endings = list(pool.map(ending, chosen))
    refused = [mutant for mutant, found in endings if "the PTX cannot be read" in found["why"]]
    tried = [(mutant, found) for mutant, found in endings if mutant not in refused]
    unreached = [mutant for mutant, found in tried if not found["why"] and not suite.reaches(mutant)]
    tried = [(mutant, found) for mutant, found in tried if mutant not in unreached]
    survivors = [mutant for mutant, found in tried if not found["why"]]
    killed_by = Counter(found["case"] for _, found in tried if found["why"])
    return {
        "name": suite.challenge.slug,
        "mutants": len(tried),
        "killed": len(tried) - len(survivors),
        "by_kind": {
            kind: f"{sum(bool(found['why']) for mutant, found in tried if mutant.kind == kind)} of {number}"
            for kind, number in sorted(Counter(mutant.kind for mutant, _ in tried).items())
        },
        # The compiler unrolls loops: of a source's guard, some copies matter at few sizes alone.
        "mistakes": len({(mutant.kind, mutant.line) for mutant, _ in tried}),
        "mistakes_killed": len({(mutant.kind, mutant.line) for mutant, found in tried if found["why"]}),
        "cases_that_kill": len(killed_by),
        "not_reached": len(unreached),
        "survivors": [mutant.told for mutant in survivors],
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("slugs", nargs="*", metavar="SLUG")
    parser.add_argument("--count", type=int, default=COUNT)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--show", action="store_true")
    options = parser.parse_args()
    import torch

    torch.set_num_threads(1)
    catalogue = find_catalogue()
    slugs = options.slugs or [
        slug for slug in catalogue.slugs() if Language.CUDA in catalogue.load(slug).solutions
    ]
    for slug in slugs:
        began = time.perf_counter()
        with TemporaryDirectory() as folder:
            suite, text = prepared(catalogue, slug, Path(folder))
            row = measure(suite, text, options.count, options.seed, options.jobs)
        row["seconds"] = round(time.perf_counter() - began, 1)
        share = row["killed"] / max(row["mutants"], 1)
        print(
            f"{slug:24} {row['killed']:4} of {row['mutants']:4} killed ({share:.1%}), "
            f"{row['mistakes_killed']} of {row['mistakes']} mistakes at a line of the source, "
            f"{row['not_reached']} not reached, {row['seconds']} s"
        )
        if options.show:
            print("\n".join(f"    {line}" for line in row["survivors"]))
        if options.json:
            keep(NAME, {"rows": merged(NAME, [row], "name")})
    return 0


if __name__ == "__main__":
    sys.exit(main())
