"""Whether the model ranks kernels as a card does: the times of every solution and variant, at sizes that a card can
tell from the cost of a launch (``sized.py``). The card timed is an H100, so it is modelled with an H100's memory.

    python benchmarks/gpu/model.py --device card --json      on the card's machine
    python benchmarks/gpu/model.py --device emulated --json  anywhere, by all blocks
    python benchmarks/gpu/model.py --device sampled --json   anywhere, as a board does (``WHOLE_INSTRUCTIONS``)
    PYTHONPATH=OTHER_TRITON python benchmarks/gpu/model.py --device sampled --apart --json    the card's Triton
    python benchmarks/gpu/model.py --compare                 both kept: Spearman by family, the worst-ranked pairs
    python benchmarks/gpu/model.py --refit                   both kept: rates that would fit the card better

``--sizes board``: the same at the sizes of an emulated board, on an H200, kept apart. SLUG or SLUG/FILE narrows what is
measured; what was kept of others stays. A card's time is the median of 15 calls by events behind a flushed L2 cache,
less what two events take with nothing between them; ``--repeats``: the median of several such, and all of them.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import math
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
from agreement import Subject, spearman
from results import FOLDER, keep, merged
from sized import BOARD, FAMILIES, NAMES, Questions, compiled, family_of, right, sized_case

from grader.challenge.catalogue import Catalogue, find_catalogue
from grader.device_kinds import EMULATED, EMULATED_ARCHITECTURE
from grader.sandbox.choose import make_boxes
from grader.sandbox.emulator.model import H100, H200, MODEL_VERSION, Card, after_data, parts_of, seconds_of

NAME, CARD, SAMPLED = "model", "card", "sampled"
HERE = Path(__file__).resolve().parent
COMPILE_THREADS, WARMING_PROCESSES = 14, 6
# Seconds without an answer after which a subject on a card hangs.
PATIENCE_SECONDS = 45.0
WANTED = 0.9
# The card that was timed at each set of sizes.
MODELLED = {"sized": H100, "board": H200}
SHOWN_PAIRS = 25
# Times this near to each other are the same: in two sessions, 30 of 35 kernels took the same within 2 %. Pairs further
# apart than the second share have a gap.
TIED, APART = 0.02, 0.1


# ---- measuring


def measure(options: argparse.Namespace) -> int:
    catalogue = find_catalogue()
    subjects = right(catalogue, options.subjects)
    name = f"{name_of(options)}_{options.device}"
    if options.apart:
        import triton

        subjects = [subject for subject in subjects if not subject.language.compiled]
        name = with_triton(name, triton.__version__)
    latest: dict[str, dict[str, Any]] = {}
    take = on_card if options.device == CARD else emulated
    for row in take(subjects, catalogue, options):
        latest[row["name"]] = {"family": family_of(row["name"].partition("/")[0]), **row}
        rows = list(latest.values())
        shown = f"{row['us']:10.2f} us" if "us" in row else f"FAILED {row['error']}"
        note = f"  WRONG by {row['differs']:.2g}" if row.get("differs", 0.0) > 0.02 else row.get("wrong", "")
        print(f"{len(rows):4} of {len(subjects)}  {row['name']:44} {shown} {note}", flush=True)
        if options.json:
            keep_rows(name, options.sizes, rows)
    return 1 if len(latest) < len(subjects) or any("error" in row for row in latest.values()) else 0


def name_of(options: argparse.Namespace) -> str:
    return NAME if options.sizes == "sized" else f"{NAME}_{options.sizes}"


def with_triton(half: str, version: str) -> str:
    """Of rows that were compiled by another Triton than the platform's: ``3.6.0`` is ``sampled_triton_3_6``."""
    return f"{half}_triton_{'_'.join(version.split('.')[:2])}"


def keep_rows(name: str, sizes: str, rows: Sequence[dict[str, Any]]) -> None:
    """After each: what ends this program may be the end of a lease."""
    with Path(os.devnull).open("w") as nowhere:
        stderr, sys.stderr = sys.stderr, nowhere
        try:
            kept = merged(name, rows, "name")
            keep(name, {"model": MODEL_VERSION, "rows": kept})
        finally:
            sys.stderr = stderr


def emulated(
    subjects: Sequence[Subject], catalogue: Catalogue, options: argparse.Namespace
) -> Iterator[dict[str, Any]]:
    """Microseconds by the model, and what each launch's parts take."""
    from counting import count

    questions, gpu = Questions(options.sizes), MODELLED[options.sizes]

    def one(subject: Subject, program: Path | None) -> dict[str, Any]:
        challenge = catalogue.load(subject.slug)
        case = sized_case(challenge, options.sizes)
        if program is None:
            return {"name": subject.name, "error": "it does not compile"}
        try:
            found = count(
                challenge, case, questions.of(challenge), program, sampled=options.device == SAMPLED
            )
        except Exception as error:  # whatever goes wrong with one must not lose the others
            return {"name": subject.name, "error": f"{type(error).__name__}: {error}"[:300]}
        launches = [
            {
                "kernel": launch.kernel,
                "parts_us": {part: round(1e6 * s, 4) for part, s in parts_of(launch, gpu).items()},
                "after_data_us": round(1e6 * after_data(launch, parts_of(launch, gpu), gpu), 4),
            }
            for launch in found.launches
        ]
        return {
            "name": subject.name,
            "us": round(1e6 * seconds_of(found.launches, found.copies, found.copied, gpu), 3),
            "wrong": found.wrong,
            "launches": launches,
            "copies": found.copies,
            "copied": found.copied,
            "sizes": dict(case.sizes),
            "blocks": sum(launch.blocks for launch in found.launches),
            "counted": sum(launch.counted for launch in found.launches),
            "took_s": round(found.took, 2),
        }

    boxes = make_boxes("local")
    with libraries(options) as folder, ThreadPoolExecutor(options.jobs) as pool:
        ready = compiled(subjects, catalogue, boxes, EMULATED_ARCHITECTURE, options.jobs, folder)
        yield from pool.map(lambda task: one(*task), ready)


@contextlib.contextmanager
def libraries(options: argparse.Namespace) -> Iterator[Path]:
    """The folder for compiled files: the one that the options name is kept."""
    if options.libraries:
        options.libraries.mkdir(parents=True, exist_ok=True)
        yield options.libraries
        return
    with TemporaryDirectory(prefix="grader-libraries-") as name:
        yield Path(name)


def on_card(
    subjects: Sequence[Subject], catalogue: Catalogue, options: argparse.Namespace
) -> Iterator[dict[str, Any]]:
    with TemporaryDirectory(prefix="grader-model-") as name:
        folder, began = Path(name), time.monotonic()
        asked = ready_for_card(subjects, catalogue, folder, options.gpu)
        print(f"ready after {time.monotonic() - began:.0f} s", flush=True)
        runs: dict[str, list[float]] = {}
        for again in range(options.repeats):
            end = began + options.seconds
            for row in answers(
                asked, "times", folder, options.gpu, end, f"asked{again}", sizes=options.sizes
            ):
                if "us" in row:
                    found = runs.setdefault(row["name"], [])
                    found.append(row["us"])
                    row |= {"us": round(statistics.median(found), 3), "runs_us": list(found)}
                elif row["name"] in runs:  # what failed once more was timed before
                    continue
                yield row


def ready_for_card(
    subjects: Sequence[Subject], catalogue: Catalogue, folder: Path, gpu: int
) -> list[dict[str, str]]:
    """All compiled, ahead and side by side: CUDA into ``folder``, Triton into its cache there."""
    import torch

    major, minor = torch.cuda.get_device_capability(gpu)
    architecture = f"sm_{major}{minor}" + ("a" if major >= 9 else "")
    made = compiled(subjects, catalogue, make_boxes("local"), architecture, COMPILE_THREADS, folder)
    asked = [
        {"name": subject.name, "slug": subject.slug, "path": str(path)}
        for subject, path in made
        if path is not None
    ]
    triton = [row for row in asked if row["path"].endswith(".py")]
    shares = [triton[number::WARMING_PROCESSES] for number in range(WARMING_PROCESSES)]

    def warm(number: int) -> None:
        for answer in answers(shares[number], "once", folder, gpu, time.monotonic() + 120.0, f"warm{number}"):
            if "error" in answer:
                print(f"{answer['name']}: {answer['error']}", flush=True)

    with ThreadPoolExecutor(WARMING_PROCESSES) as pool:
        list(pool.map(warm, range(WARMING_PROCESSES)))
    return asked


def answers(
    asked: Sequence[dict[str, str]],
    method: str,
    folder: Path,
    gpu: int,
    end: float,
    label: str = "asked",
    before: Sequence[str] = (),
    patience: float = PATIENCE_SECONDS,
    sizes: str = "sized",
) -> Iterator[dict[str, Any]]:
    """What ``on_card.py`` says of each subject; its process is started again after one that killed it.

    ``before``: words of a program that runs it. ``end``: begin nothing more after this; ``patience``: seconds without
    an answer after which a subject hangs.
    """
    left, environment = list(asked), _environment(folder, gpu)
    while left and time.monotonic() < end:
        task, said = folder / f"{label}.json", folder / f"{label}.jsonl"
        task.write_text(json.dumps({"subjects": left, "method": method, "sizes": sizes}))
        said.write_text("")
        log = folder / f"{label}.log"
        with log.open("w") as output:
            process = subprocess.Popen(
                [*before, sys.executable, str(HERE / "on_card.py"), str(task), str(said)],
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
            )
        try:
            over = yield from _follow(process, said, left, end, patience)
        finally:
            process.terminate()  # a profiler takes the program that it runs along
            try:
                process.wait(5.0)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        if over:
            continue
        begun = next((row["begins"] for row in reversed(_lines(said)) if "begins" in row), left[0]["name"])
        told = log.read_text(errors="replace").strip()[-300:]
        lost = next((row for row in left if row["name"] == begun), left[0])
        left.remove(lost)
        yield {"name": lost["name"], "error": f"its process ended or hung: {told}"}
    for row in left:
        yield {"name": row["name"], "error": "no time left"}


def _follow(
    process: subprocess.Popen[bytes], said: Path, left: list[dict[str, str]], end: float, patience: float
) -> Generator[dict[str, Any], None, bool]:
    """Yields answers and removes them from ``left``; returns True if the process did all it could."""
    seen, heard = 0, time.monotonic()
    while True:
        ended = process.poll() is not None
        lines = _lines(said)
        for line in lines[seen:]:
            heard = time.monotonic()
            if "begins" not in line:
                left[:] = [row for row in left if row["name"] != line["name"]]
                yield line
        seen = len(lines)
        now = time.monotonic()
        if ended or now - heard > patience or now > end:
            # One that answered the last it began, and ended for it (a lost context), did what it could.
            return not left or now > end or bool(lines and "begins" not in lines[-1])
        time.sleep(0.02)


def _lines(path: Path) -> list[dict[str, Any]]:
    text = path.read_text()
    return [json.loads(line) for line in text[: text.rfind("\n") + 1].splitlines()]


def _environment(folder: Path, gpu: int) -> dict[str, str]:
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    chosen = visible.split(",")[gpu] if visible else str(gpu)
    return {**os.environ, "CUDA_VISIBLE_DEVICES": chosen, "TRITON_CACHE_DIR": str(folder / "triton")}


# ---- comparing


@dataclass(frozen=True)
class Timed:
    """One subject: microseconds on the card and by the model, and what the model says holds it up most."""

    name: str
    family: str
    card: float
    model: float
    bound: str


def halves(name: str, *, cards_triton: bool = False) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Rows of the card and of the emulated GPU: those of the machine that measured most, and of another what that one
    lacks. ``cards_triton``: of Triton sources, what the card's version makes of them, if that was measured. Raises
    SystemExit where one of the two was not measured."""
    found, triton = [], ""
    for half in (CARD, SAMPLED if BOARD in name else EMULATED):
        files = [json.loads(path.read_text()) for path in FOLDER.glob(f"{name}_{half}-*.json")]
        if not files:
            raise SystemExit(f"{name}_{half} was not measured yet: see --help")
        rows: dict[str, dict[str, Any]] = {}
        for kept in sorted(files, key=lambda run: len(run["figures"]["rows"]), reverse=True):
            new = {
                row["name"]: row for row in kept["figures"]["rows"] if "us" not in rows.get(row["name"], {})
            }
            # Triton's lowering of one source differs from version to version.
            print(f"{half}: {len(new)} of {kept['device']}, Triton {kept['versions'].get('triton', '?')}")
            rows |= new
            if half == CARD:
                triton = kept["versions"].get("triton", triton)
        # What the card's own Triton makes of a source, if that was measured.
        for path in FOLDER.glob(f"{with_triton(f'{name}_{half}', triton)}-*.json") if cards_triton else ():
            same = {row["name"]: row for row in json.loads(path.read_text())["figures"]["rows"]}
            print(f"{half}: {len(same)} by Triton {triton}, as on the card")
            rows |= same
        found.append(list(rows.values()))
    return found[0], found[1]


def both(
    name: str = NAME, *, cards_triton: bool = False
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Rows of the card and of the model, in pairs."""
    kept = halves(name, cards_triton=cards_triton)
    one, two = ({row["name"]: row for row in half if "us" in row} for half in kept)
    names = sorted(one.keys() & two.keys())
    for name in sorted(one.keys() ^ two.keys()):
        print(f"only in one of them: {name}")
    return [one[name] for name in names], [two[name] for name in names]


def compare(name: str, *, cards_triton: bool) -> int:
    card, model = both(name, cards_triton=cards_triton)
    timed = [
        Timed(one["name"], one["family"], one["us"], two["us"], _bound(two))
        for one, two in zip(card, model, strict=True)
    ]
    for kernel in sorted(timed, key=lambda kernel: (list(FAMILIES).index(kernel.family), kernel.name)):
        print(
            f"{kernel.name:46} card {kernel.card:9.1f}  model {kernel.model:9.1f}  "
            f"{kernel.model / kernel.card:5.2f}  {kernel.bound}"
        )
    low = 0
    for family in FAMILIES:
        of_family = [kernel for kernel in timed if kernel.family == family]
        low += _told(family, of_family)
        slugs = FAMILIES[family]
        for slug in slugs if len(slugs) > 1 else ():
            _told(f"    {slug}", [kernel for kernel in of_family if kernel.name.startswith(f"{slug}/")])
    _told("over all", timed)
    print(
        f"\npairs of a family that the model ranks the other way round, the worst first ({SHOWN_PAIRS} shown):"
    )
    for one, two in worst(timed)[:SHOWN_PAIRS]:
        print(
            f"{one.name:42} {two.name:42} card {one.card:8.1f} < {two.card:8.1f}  "
            f"model {one.model:8.1f} > {two.model:8.1f}"
        )
    return int(low > 0)


def _told(title: str, timed: Sequence[Timed]) -> bool:
    """Whether it is too low."""
    if len(timed) < 3:
        return False
    rank = spearman([(kernel.card, kernel.model) for kernel in timed])
    tied = spearman(
        list(
            zip(
                in_ties([kernel.card for kernel in timed]),
                in_ties([kernel.model for kernel in timed]),
                strict=True,
            )
        )
    )
    error = math.sqrt(sum(math.log(kernel.model / kernel.card) ** 2 for kernel in timed) / len(timed))
    close, pairs = gaps(timed)
    print(
        f"{title:28} {len(timed):4}  Spearman {rank:6.3f} ({tied:5.3f} with ties)  "
        f"off by a factor of {math.exp(error):.2f}  gaps too small {close:4} of {pairs}"
    )
    return rank < WANTED


def in_ties(times: Sequence[float]) -> list[float]:
    """Each time, or the least one that it is tied with."""
    least: dict[float, float] = {}
    first = 0.0
    for us in sorted(times):
        if us > first * (1 + TIED):
            first = us
        least[us] = first
    return [least[us] for us in times]


def gaps(timed: Sequence[Timed]) -> tuple[int, int]:
    """Of pairs of one challenge that differ on the card by more than ``APART``, those whose gap by the model is less
    than half of the card's, as logarithms; and how many pairs there are."""
    small = pairs = 0
    for one, two in combinations(sorted(timed, key=lambda kernel: kernel.card), 2):
        if one.name.partition("/")[0] == two.name.partition("/")[0] and two.card > one.card * (1 + APART):
            pairs += 1
            small += math.log(two.model / one.model) < 0.5 * math.log(two.card / one.card)
    return small, pairs


def worst(timed: Sequence[Timed]) -> list[tuple[Timed, Timed]]:
    """Pairs in the card's order that the model has the other way round; first those that both sides tell far apart."""
    found = []
    for one, two in combinations(sorted(timed, key=lambda kernel: kernel.card), 2):
        if one.family == two.family and one.model > two.model:
            apart = math.log(two.card / one.card) * math.log(one.model / two.model)
            found.append((apart, one, two))
    return [(one, two) for _, one, two in sorted(found, key=lambda pair: -pair[0])]


def _bound(row: dict[str, Any]) -> str:
    """Of the launch that takes longest."""
    parts = [
        max(launch["parts_us"].items(), key=lambda part: part[1])
        for launch in row["launches"]
        if launch["parts_us"]
    ]
    return max(parts, key=lambda pair: pair[1])[0] if parts else "launches"


# ---- fitting

# By what a constant of the model may be multiplied, and still be one that the hardware can have: no rate is above the
# data sheet's but those of integers, branches and issue, because a card folds several instructions of PTX into one.
# Latencies are chains of what microbenchmarks show of each instruction, within a factor of three.
BOUNDS: dict[str, tuple[float, float]] = {
    "launch": (0.5, 3.0),
    "copy": (0.5, 3.0),
    "DRAM": (0.7, 1.1),
    "L2": (0.5, 1.6),
    "L1 lines": (0.5, 1.0),
    "L2 to a multiprocessor": (0.5, 1.0),
    "blocks": (0.5, 2.0),
    "shared memory": (0.5, 1.0),
    "tensor cores": (0.4, 1.6),
    "instruction issue": (0.5, 1.6),
    "latency": (0.4, 3.0),
    "atomics on one address": (0.25, 4.0),
    "integer units": (0.5, 2.0),
    "branch units": (0.5, 2.0),
    "convert units": (0.5, 4.0),
    "sync units": (0.35, 2.0),
    "units": (0.35, 1.0),
}
SWEEPS, STEPS = 60, 9


class Fit:
    """Times of subjects as a function of factors on the model's constants.

    A part of a launch takes its time by the constants of ``gpu``, divided by its factor (multiplied if it is a time).
    ``overlap``: if infinite, launches take the longest of their parts, else (sum of part ** overlap) ** (1 /
    overlap): parts that are nearly as long as the longest add a little.
    """

    TIMES = ("launch", "copy", "latency", "atomics on one address", "blocks")

    def __init__(self, card: Sequence[dict[str, Any]], model: Sequence[dict[str, Any]], gpu: Card) -> None:
        self.gpu = gpu
        self.families = [row["family"] for row in card]
        self.card = np.array([row["us"] for row in card])
        self.copies = np.array([row["copies"] for row in model], dtype=float)
        self.copied = np.array([2e6 * row["copied"] / gpu.dram for row in model])
        launches = [(at, launch["parts_us"]) for at, row in enumerate(model) for launch in row["launches"]]
        self.owner = np.array([at for at, _ in launches])
        parts = sorted({part for _, found in launches for part in found})
        self.names = ["launch", "copy", *parts]
        self.after = np.array(
            [launch.get("after_data_us", 0.0) for row in model for launch in row["launches"]]
        )
        self.parts = np.array([[found.get(part, 0.0) for part in parts] for _, found in launches])

    def bounds(self, name: str) -> tuple[float, float]:
        return BOUNDS.get(name, BOUNDS["units"])

    def times(self, logs: Any, overlap: float = math.inf) -> Any:
        """Microseconds of each subject; ``logs``: of the factors, as ``names``."""
        factors = np.exp(logs)
        scale = np.array(
            [f if name in self.TIMES else 1.0 / f for name, f in zip(self.names, factors, strict=True)]
        )
        parts = self.parts * scale[2:]
        longest = parts.max(axis=1)
        if not math.isinf(overlap):
            safe = np.maximum(longest, 1e-9)[:, None]
            longest = safe[:, 0] * ((parts / safe) ** overlap).sum(axis=1) ** (1.0 / overlap)
        found = np.zeros(len(self.card))
        np.add.at(found, self.owner, longest + self.after + 1e6 * self.gpu.launch * scale[0])
        dram = scale[self.names.index("DRAM")] if "DRAM" in self.names else 1.0
        return found + self.copies * 1e6 * self.gpu.copy * scale[1] + self.copied * dram

    def error(self, logs: Any, overlap: float, chosen: Any) -> float:
        """Mean square of the logarithm of model by card over ``chosen``, and a little for each step away from what the
        constants are now: what the times say nothing of stays."""
        off = np.log(self.times(logs, overlap)[chosen] / self.card[chosen])
        return float((off**2).mean() + 1e-3 * (logs**2).mean())

    def fitted(self, chosen: Any, overlap: float = math.inf) -> Any:
        """Logs of factors: by coordinates, each tried in ever smaller steps; the same on every machine."""
        logs = np.zeros(len(self.names))
        limits = [tuple(math.log(bound) for bound in self.bounds(name)) for name in self.names]
        best, step = self.error(logs, overlap, chosen), 0.4
        for _ in range(SWEEPS):
            before = best
            for at, (low, high) in enumerate(limits):
                for move in (-step, step):
                    trial = logs.copy()
                    trial[at] = min(max(trial[at] + move, low), high)
                    if (error := self.error(trial, overlap, chosen)) < best - 1e-9:
                        best, logs = error, trial
            if before - best < 1e-6:
                step /= 2
                if step < 0.005:
                    break
        return logs

    def ranks(self, logs: Any, overlap: float = math.inf) -> dict[str, float]:
        times, found = self.times(logs, overlap), {}
        for family in dict.fromkeys(self.families):
            pairs = [
                (float(a), float(b))
                for a, b, of in zip(self.card, times, self.families, strict=True)
                if of == family
            ]
            if len(pairs) > 2:
                found[family] = spearman(pairs)
        found["over all"] = spearman(list(zip(self.card.tolist(), times.tolist(), strict=True)))
        return found

    def off(self, logs: Any, overlap: float, chosen: Any) -> float:
        """By what factor times are off, root mean square."""
        log = np.log(self.times(logs, overlap)[chosen] / self.card[chosen])
        return math.exp(math.sqrt(float((log**2).mean())))


def refit(name: str, gpu: Card) -> int:
    """Prints proposals; changes nothing."""
    fit = Fit(*both(name), gpu)
    every = np.arange(len(fit.card))
    now = np.zeros(len(fit.names))
    as_it_is = gpu.overlap
    forms: list[tuple[str, float]] = [
        ("the longest part", math.inf),
        *((f"overlap {p}", float(p)) for p in (6, 4, 3, 2)),
    ]
    fits = {title: fit.fitted(every, overlap) for title, overlap in forms}
    print(f"\n{'':24}{'as it is':>12}" + "".join(f"{title:>18}" for title, _ in forms))
    print(
        f"{'times off by':24}{fit.off(now, as_it_is, every):12.2f}"
        + "".join(f"{fit.off(fits[title], overlap, every):18.2f}" for title, overlap in forms)
    )
    tables = [fit.ranks(now, as_it_is), *(fit.ranks(fits[title], overlap) for title, overlap in forms)]
    for family in tables[0]:
        print(
            f"{family:24}{tables[0][family]:12.3f}"
            + "".join(f"{table[family]:18.3f}" for table in tables[1:])
        )
    print("\neach family by constants that were fitted to the others alone (times off by, Spearman):")
    for family in dict.fromkeys(fit.families):
        own = np.array([at for at, each in enumerate(fit.families) if each == family])
        others = np.array([at for at, each in enumerate(fit.families) if each != family])
        line = f"{family:24}{fit.off(now, as_it_is, own):6.2f} {fit.ranks(now, as_it_is).get(family, math.nan):5.3f}"
        for _, overlap in forms:
            logs = fit.fitted(others, overlap)
            line += (
                f"{fit.off(logs, overlap, own):12.2f} {fit.ranks(logs, overlap).get(family, math.nan):5.3f}"
            )
        print(line)
    print("\nconstants, as they are and as fitted (* at its bound):")
    for at, name in enumerate(fit.names):
        low, high = (math.log(bound) for bound in fit.bounds(name))
        line = f"{name:24}{_constant(gpu, name, 1.0):>14}"
        for title, _ in forms:
            log = fits[title][at]
            mark = "*" if log in (low, high) else " "
            line += f"{_constant(gpu, name, math.exp(log)):>17}{mark}"
        print(line)
    return 0


def _constant(gpu: Card, name: str, factor: float) -> str:
    """The constant of ``gpu`` behind a part, times ``factor``."""
    values: dict[str, tuple[float, str]] = {
        "launch": (1e6 * gpu.launch, "us"),
        "copy": (1e6 * gpu.copy, "us"),
        "DRAM": (1e-12 * gpu.dram, "TB/s"),
        "L2": (1e-12 * gpu.l2, "TB/s"),
        "L1 lines": (gpu.l1, "/cycle"),
        "L2 to a multiprocessor": (gpu.from_l2, "/cycle"),
        "shared memory": (gpu.banks, "/cycle"),
        "instruction issue": (gpu.issue, "/cycle"),
        "tensor cores": (gpu.flops["f16"], "flop"),
        "atomics on one address": (1e9 * gpu.update, "ns"),
        "blocks": (1e9 * gpu.block, "ns"),
    }
    rate = gpu.rates.get(name.removesuffix(" units"))
    value, unit = values.get(name, (rate, "/cycle") if rate else (1.0, "times"))
    return f"{value * factor:.3g} {unit}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("subjects", nargs="*", metavar="SLUG")
    parser.add_argument("--device", choices=(CARD, EMULATED, SAMPLED), default=EMULATED)
    parser.add_argument("--sizes", choices=NAMES, default="sized")
    parser.add_argument("--gpu", type=int, default=0)
    parser.add_argument(
        "--seconds", type=float, default=330.0, help="on a card: begin nothing more after this"
    )
    parser.add_argument("--repeats", type=int, default=1, help="on a card: go through all so often")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)), help="of the emulated GPU")
    parser.add_argument(
        "--libraries", type=Path, help="folder that keeps what was compiled for the emulated GPU"
    )
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--compare", action="store_true")
    parser.add_argument("--own-triton", action="store_true", help="compare what the platform's Triton makes")
    parser.add_argument(
        "--apart",
        action="store_true",
        help="Triton sources alone, kept apart: the Triton on the path is not the platform's",
    )
    parser.add_argument("--refit", action="store_true")
    options = parser.parse_args()
    act: Callable[[], int] = lambda: measure(options)  # noqa: E731
    if options.compare or options.refit:
        name, gpu = name_of(options), MODELLED[options.sizes]
        refits: Callable[[], int] = lambda: refit(name, gpu)  # noqa: E731
        compares: Callable[[], int] = lambda: compare(name, cards_triton=not options.own_triton)  # noqa: E731
        act = compares if options.compare else refits
    return act()


if __name__ == "__main__":
    sys.exit(main())
