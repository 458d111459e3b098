"""The measurements in ``benchmarks/results``."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from grader.manual.markup import code, table
from references.markdown import page

RESULTS = Path(__file__).resolve().parents[2] / "benchmarks" / "results"
ABOUT = (
    "After this page you know what was measured of this repository, where and when. Scripts in `benchmarks/` write "
    "their results to `benchmarks/results`, with device, versions and commit, and this page is made from them; only "
    "remarks on how a run went are added by hand. A `+` after a commit: files differed from it. Rows of one table may "
    "be of several commits."
)
SOLUTIONS = (
    "Each challenge's two solutions, PyTorch as one writes it (eager) and `torch.compile`, in microseconds at the "
    "longest ranked workload, by the judge's clock (`benchmarks/gpu/solutions.py`)."
)
SHARES = (
    "How good the better solution of each is. *Of light*: the roofline time, by measured ceilings of this GPU, divided "
    "by the solution's time. *x eager*, *x compile*: how many times as fast as PyTorch. *Target*: the share that it "
    "must reach of the speed of a copy ({copy:.3f} TB/s), or of eager's speed where that is cuBLAS or fused attention. "
    "A kernel that reads more than it writes may be faster than a copy."
)
PROOFS = (
    "`grader challenge check` on every challenge (`benchmarks/proofs.py`): every mutant, a kernel with a mistake that "
    "students make, and every generic wrong kernel must fail; native PyTorch and the solutions must pass."
)
WITHOUT = "CUDA mutants are only compiled here, so fewer mutants run."
PTX_MUTANTS = (
    "One PTX instruction of the CUDA solution changed at a time, and the suite run on the emulated GPU "
    "(`benchmarks/ptx_mutants.py`; [what is changed](../proving.md#mutants-of-the-compiled-solutions)). Survivors "
    "count as not killed, also equivalent ones. *Not reached*: mutants of instructions that no case executes, such as "
    "the main loop of a kernel that needs millions of elements for it."
)
REPEATED = (
    "One kernel graded up to {gradings} times, each in a box of its own ({boxes}): the longest of its times over the "
    "shortest, less 1 (`benchmarks/gpu/repeatability.py`)."
)
REPEATED_ALONE = "Next to it, the same figure for {processes} processes that each time the same kernel alone."
REPLAYED = (
    "The raw rounds of such runs, by the rule of today (`benchmarks/gpu/replay.py`): the same "
    "figure with the cost of a round known from the other gradings, as on a machine in use; from the grading's own "
    "control alone; and by medians, as times were made before."
)
CLOCK = (
    "Kernels that try to get too good a time (`benchmarks/gpu/attacks`), at {workload}, in boxes ({boxes}): {held} of "
    "{all} held. The best gained {best:.2f} % over the honest kernel ({name}); up to {band:g} % counts as nothing "
    "(`benchmarks/gpu/band.py`)."
)

APPROXIMATIONS = (
    "Wrong answers near the right one, tried at every workload in rounds that are drawn and compared as the judge does "
    "(`benchmarks/approximations.py`; [what they are](../proving.md#approximations)). *By*: how many are shown by "
    "ordinary rounds, of the others by rounds with outliers, and the rest by special values alone. *At most*: how "
    "likely the one that passes most easily passes a grading of a workload for GPUs. What is *allowed* passes, and the "
    "challenge's page says why it may."
)
ONCE = (
    "What passed gradings once, with the probability that it passes one now: of a workload's rounds alone, for a "
    "kernel that is right in every case and wrong at this size. Few rounds are drawn for what is shown at once, so a "
    "probability is an upper estimate."
)


def make() -> str:
    kept = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(RESULTS.glob("*.json"))]
    return page("Figures", ABOUT, _parts(kept))


def _parts(kept: Sequence[dict[str, Any]]) -> Iterator[str]:
    for title, name, make_part in (
        ("The catalogue's own solutions", "solutions", _solutions),
        ("Proofs on a GPU", "gpu_proofs", _proofs),
        ("Proofs without a GPU", "proofs", _proofs),
        ("Proofs on the emulated GPU", "emulated_proofs", _proofs),
        ("Mutants of the compiled solutions", "ptx_mutants", _ptx_mutants),
        ("Approximations", "approximations", _approximations),
        ("Approximations at sizes that fit a processor", "approximations_reduced", _approximations),
        ("How far gradings differ", "repeatability", _repeatability),
        ("Those gradings by the rule of today", "replay", _replay),
        ("Attacks on the clock", "band", _band),
        ("Attacks on the clock while the host's other GPU works", "band_beside_another_gpu", _band),
    ):
        for each in kept:
            if each["benchmark"] == name:
                yield f"## {title} ({each['device']})"
                yield from make_part(each)
    yield "## All results"
    heads = ("file", "device", "day", "commit")
    files = sorted(RESULTS.glob("*.json"))
    yield table(heads, [(code(path.name), *_where(run)) for path, run in zip(files, kept, strict=True)])


def _solutions(kept: Mapping[str, Any]) -> Iterator[str]:
    figures = kept["figures"]
    rows = figures["rows"]
    yield SOLUTIONS
    of_times = ("challenge", "workload", "CUDA", "Triton", "eager", "compile", "commit")
    yield table(of_times, [_times(row, row.get("commit", kept["commit"])) for row in rows])
    yield SHARES.format(copy=figures["copy_bytes_per_s"] / 1e12)
    of_shares = ("challenge", "of light", "x eager", "x compile", "target", "reached")
    yield table(of_shares, [_shares(row) for row in rows])


def _times(row: Mapping[str, Any], commit: str) -> tuple[str, ...]:
    times = row["times"]
    cells = [
        f"{times[name]:,.1f}" if name in times else "failed"
        for name in ("cuda", "triton", "eager", "compile")
    ]
    return code(row["slug"]), row["workload"], *cells, _short(commit)


def _shares(row: Mapping[str, Any]) -> tuple[str, ...]:
    times = row["times"]
    best = min((times[name] for name in ("cuda", "triton") if name in times), default=None)
    if best is None:
        return code(row["slug"]), "", "", "", row["target"], "missed"
    over = [f"{times[name] / best:.2f}" if name in times else "" for name in ("eager", "compile")]
    reached = row["eager_share" if "eager" in row["target"] else "bandwidth_share"]
    told = f"{reached:.3f}{'' if row['met'] else ', missed'}"
    bound = row["target"].startswith("none")
    aim = row["target"].removeprefix("none: ")
    return code(row["slug"]), f"{row['roofline_us'] / best:.2f}", *over, aim, "" if bound else told


def _proofs(kept: Mapping[str, Any]) -> Iterator[str]:
    run, device = kept["figures"]["whole_run"], kept["figures"]["device"]
    yield f"{PROOFS} {WITHOUT}" if device == "cpu" else PROOFS
    if run is not None:
        gpus = (
            "" if device in ("cpu", "emulated") else f" and {run['gpus']} GPU{'s' if run['gpus'] > 1 else ''}"
        )
        yield (
            f"The last run over all: {run['proven']} of {run['challenges']} proven in {run['seconds']} seconds by "
            f"{run['jobs']} processes on {run['cores']} cores{gpus}, on {run['measured'][:10]} at "
            f"{_short(run['commit'])}."
        )
    heads = ("challenge", "proven", "cases", "mutants killed", "generic wrong kernels killed", "commit")
    yield table(heads, [_proof(kept, row) for row in kept["figures"]["rows"]])


def _proof(kept: Mapping[str, Any], row: Mapping[str, Any]) -> tuple[str, ...]:
    told = {check["name"]: check["summary"] for check in row["checks"]}
    cases = re.search(r"\d+", told["manifest"])
    killed = [told.get(name, "").removesuffix(" killed") for name in ("mutants", "generic")]
    commit = row.get("commit", kept["commit"])
    return (
        code(row["slug"]),
        "yes" if row["strong"] else "no",
        cases[0] if cases else "",
        *killed,
        _short(commit),
    )


def _ptx_mutants(kept: Mapping[str, Any]) -> Iterator[str]:
    yield PTX_MUTANTS
    heads = ("challenge", "killed", "share", "cases that kill", "not reached", "commit")
    yield table(
        heads,
        [
            (
                code(row["name"]),
                f"{row['killed']} of {row['mutants']}",
                f"{row['killed'] / row['mutants']:.0%}" if row["mutants"] else "",
                str(row["cases_that_kill"]),
                str(row["not_reached"]),
                _short(row.get("commit", kept["commit"])),
            )
            for row in kept["figures"]["rows"]
        ],
    )


def _approximations(kept: Mapping[str, Any]) -> Iterator[str]:
    yield APPROXIMATIONS
    rows = kept["figures"]["rows"]
    heads = (
        "challenge",
        "tried",
        "workloads",
        "by ordinary, outliers, special",
        "at most",
        "allowed",
        "passes",
    )
    yield table(heads, [_tried(row) for row in rows])
    yield ONCE
    once = [
        (code(row["slug"]), code(name), at, f"{one['probability']:.1g}", ", ".join(one["shown_by"]))
        for row in rows
        for name, by_workload in row["once"].items()
        for at, one in by_workload.items()
        if at != "interpreter"
    ]
    yield table(("challenge", "approximation", "workload", "probability", "shown by"), once)


def _tried(row: Mapping[str, Any]) -> tuple[str, ...]:
    shown = {"ordinary": 0, "outliers": 0, "special": 0}
    for kinds, number in row["caught_by"].items():
        shown[kinds.split()[0]] += number
    allowed, passes = (
        ", ".join(map(code, dict.fromkeys(waived["name"] for waived in row[key])))
        for key in ("allowed", "passes")
    )
    by = ", ".join(map(str, shown.values()))
    most = f"{row['most_likely_caught']:.1g}"
    return (
        code(row["slug"]),
        str(row["tried"]),
        str(len(row["workloads"])),
        by,
        most,
        allowed,
        passes or "none",
    )


def _repeatability(kept: Mapping[str, Any]) -> Iterator[str]:
    figures = kept["figures"]
    alone = f" {REPEATED_ALONE.format(**figures)}" if figures["processes"] else ""
    yield f"{REPEATED.format(**figures)}{alone}"
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for row in figures["rows"]:
        found.setdefault((row["subject"], row["workload"]), {})[row["by"]] = row
    heads = ("kernel", "workload", "the judge", "target", "`do_bench`", "events", "commit")
    rows = []
    for (subject, workload), by in found.items():
        spreads = [
            f"{by[name]['spread']:.2%}" if name in by else "" for name in ("judge", "do_bench", "events")
        ]
        target = by["judge"]["target"] if "judge" in by else None
        aim = "" if target is None else f"{target:.1%}{', missed' if by['judge']['spread'] > target else ''}"
        size = "the ranked time of all" if workload == "all of them" else workload
        rows.append((subject, size, spreads[0], aim, *spreads[1:], _short(kept["commit"])))
    yield table(heads, rows)
    if note := figures.get("note"):
        yield f"{note[0].upper()}{note[1:]}."


def _replay(kept: Mapping[str, Any]) -> Iterator[str]:
    yield REPLAYED
    heads = (
        "file",
        "kernel",
        "workload",
        "gradings",
        "rounds",
        "known cost",
        "own control",
        "medians",
    )
    rows = []
    for row in kept["figures"]["rows"]:
        fewest, most = min(row["rounds"]), max(row["rounds"])
        spreads = [f"{row[key]:.2%}" for key in ("spread", "spread_by_own_control", "spread_by_median")]
        rounds = f"{fewest}" if fewest == most else f"{fewest} to {most}"
        name = code(row["file"].partition("-")[0])
        rows.append((name, row["subject"], row["workload"], f"{row['gradings']}", rounds, *spreads))
    yield table(heads, rows)


def _band(kept: Mapping[str, Any]) -> Iterator[str]:
    figures = kept["figures"]
    gains = [attack for attack in figures["attacks"] if attack["gain"] is not None]
    best = max(gains, key=lambda attack: attack["gain"], default={"gain": 0.0, "name": "none"})
    ran = [attack for attack in figures["attacks"] if attack["outcome"] != "NOT RUN"]
    yield CLOCK.format(
        workload=figures["workload"],
        boxes=figures["boxes"],
        held=sum(attack["outcome"] == "DEFENDED" for attack in ran),
        all=len(ran),
        best=best["gain"],
        name=code(best["name"]),
        band=figures["band_percent"],
    )
    if note := figures.get("note"):
        yield f"{note[0].upper()}{note[1:]}."
    yield f"Measured on {kept['measured'][:10]} at {_short(kept['commit'])}."


def _where(kept: Mapping[str, Any]) -> tuple[str, str, str]:
    return kept["device"], kept["measured"][:10], _short(kept["commit"])


def _short(commit: str) -> str:
    return code(commit[:7] + ("+" if commit.endswith("+") else ""))
