"""Judges the attacks and honest controls of tests/hostile, and counts their cost for the host (`make
hostile`).

In Docker, bubblewrap or plain boxes; on the CPU, and with a GPU also its own attacks and benchmarks/gpu's on
the clock. Exit code 1 if an attack got through, ended otherwise than expected, or changed the host, or if a
control was refused.

Usage: python scripts/hostile.py [NAME ...] [--json] [--on cpu] [--device h200] [--boxes auto] [--alone] NAME:
the beginning of an attack's name, or a surface (clock, replay, ..., control, clock_gpu).
"""

from __future__ import annotations

import argparse
import math
import os
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "benchmarks" / "gpu"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "benchmarks"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from grader.device_kinds import EMULATED
from grader.judge.device import Device, make_device
from grader.judge.request import CPU
from grader.languages import Language
from grader.sandbox.box import BoxMaker
from grader.sandbox.choose import docker_status, make_boxes
from tests.hostile import host_state, suite
from tests.hostile.range import CATALOGUE, DEFENDED, NOT_RUN, Finding, QuickHost, Range, run

CLOCK_ON_GPU = "clock_gpu"
# Attacks must beat the median of these gradings.
HONEST = 3
# Time is short (see benchmarks/results.py).
GO_ON = 75


def main() -> int:
    options = _options()
    host_state.adopt_orphans()
    print(f"boxes: {options.boxes}. {docker_status()[1]}", flush=True)
    entries = suite.load(tuple(options.names))
    with own_temporary_folder() as folder:
        boxes = make_boxes(options.boxes)
        watched = [CATALOGUE, folder]
        before = host_state.take(watched, alone=options.alone)
        findings: list[Finding] = []
        end, left = time.monotonic() + options.seconds, 0
        known = _known(options) if options.missing else set()
        for device in _devices(options):
            range_ = Range(boxes, device, watch=True, alone=options.alone, folders=watched)
            wanted = [attack for attack in entries if attack.runs_on(device.name)]
            wanted = [
                attack
                for attack in wanted
                if _id_of(attack.surface, attack.name, attack.language.value, device.name) not in known
            ]

            def note(finding: Finding) -> None:
                show(finding)
                findings.append(finding)
                if options.json and options.on == "gpu":  # the end of this program may end a lease
                    _keep(findings, {}, boxes.name, options.on, 0)

            left += len(wanted) - len(run(wanted, range_, note, end))
            if device.name not in (CPU, EMULATED) and (not options.names or CLOCK_ON_GPU in options.names):
                left += on_the_clock(boxes, device, end, known, note)
        changed = host_state.settled(before, watched, alone=options.alone).changed_since(before)
        boxes.reap()
        summarise(findings, changed, boxes.name)
        if left:
            print(f"{left} left for want of time")
        if options.json:
            _keep(findings, changed, boxes.name, options.on, left)
    failed = changed or any(finding.failed for finding in findings)
    return GO_ON if left and options.seconds < math.inf else int(bool(left or failed))


@contextmanager
def own_temporary_folder() -> Iterator[Path]:
    """For all files of this process and its plain boxes, to count them."""
    folder = Path(tempfile.mkdtemp(prefix="grader-range-"))
    os.environ["TMPDIR"], tempfile.tempdir = str(folder), str(folder)
    try:
        yield folder
    finally:
        tempfile.tempdir = None
        shutil.rmtree(folder, ignore_errors=True)


def _devices(options: argparse.Namespace) -> Iterator[Device]:
    """The CPU first."""
    if options.on in ("cpu", "all"):
        yield QuickHost()
    if options.on == "emulated":
        yield make_device(EMULATED, 0)
    if options.on in ("gpu", "all") and options.device != CPU:
        yield make_device(options.device, options.gpu)


def on_the_clock(
    boxes: BoxMaker, device: Device, end: float, known: set[str], note: Callable[[Finding], None]
) -> int:
    """The other attacks of benchmarks/gpu, against the honest kernel and the published band. Returns how many
    did not begin before ``end`` (monotonic, seconds).
    """
    import band

    attacks = [
        attack
        for attack in band.attacks()
        if _id_of(CLOCK_ON_GPU, attack.name, attack.language.value, device.name) not in known
    ]
    if not attacks or time.monotonic() > end:
        return len(attacks)
    range_ = band.Range(device, boxes)
    range_.compile_ahead([attack.source for attack in attacks if attack.language is Language.CUDA])
    honest = {
        language: statistics.median(band.honest_times(range_, language, HONEST))
        for language in {attack.language for attack in attacks}
    }
    for number, attack in enumerate(attacks):
        if time.monotonic() > end:
            return len(attacks) - number
        seen = band.judge(range_, attack, honest[attack.language])
        gain = "" if seen.gain is None else f" {seen.gain:+.2f} % of at most {band.BAND_PERCENT} %"
        by = ", ".join([seen.verdict, *seen.flags]) + gain
        # An error there, here a verdict that no submission should reach.
        outcome = DEFENDED if seen.outcome == DEFENDED else "VULNERABLE"
        finding = Finding(attack.name, CLOCK_ON_GPU, seen.language, device.name, outcome, by, seen.seconds)
        note(replace(finding, detail=seen.detail))
    return 0


def show(finding: Finding) -> None:
    cost = ", ".join(f"{len(changes)} {kind}" for kind, changes in finding.host.items()) or "nothing"
    line = (
        f"{finding.outcome:<10} {finding.surface:<13} {finding.name:<24} {finding.language:<6} "
        f"{finding.device:<5} {finding.seconds:5.1f} s"
    )
    print(
        f"{line}  cost {cost}; by {finding.by}{f' ({finding.detail})' if finding.detail else ''}", flush=True
    )


def summarise(findings: Sequence[Finding], changed: dict[str, list[str]], boxes: str) -> None:
    attacks, controls = _split(findings)
    held, honest = _count(attacks, DEFENDED), _count(controls, "ACCEPTED")
    print(
        f"\n{held} of {len(attacks)} attacks defended, {honest} of {len(controls)} controls accepted, in {boxes} boxes."
    )
    if left_out := _count(findings, NOT_RUN):
        print(f"{left_out} not run.")
    print(f"The host afterwards: {changed or 'as it was before'}.")
    for finding in findings:
        if finding.failed:
            show(finding)


def _split(findings: Sequence[Finding]) -> tuple[list[Finding], list[Finding]]:
    ran = [finding for finding in findings if finding.outcome != NOT_RUN]
    return [finding for finding in ran if finding.surface != suite.CONTROL], [
        finding for finding in ran if finding.surface == suite.CONTROL
    ]


def _count(findings: Sequence[Finding], outcome: str) -> int:
    return sum(finding.outcome == outcome for finding in findings)


def _keep(findings: Sequence[Finding], changed: dict[str, list[str]], boxes: str, on: str, left: int) -> None:
    from results import keep, merged

    name = "hostile" if on == "all" else f"hostile-{on}"
    if on == EMULATED:
        name += f"-{boxes}"
    rows = [
        {**asdict(finding), "seconds": round(finding.seconds, 2), "id": _id(finding)} for finding in findings
    ]
    if on == "gpu":  # lent by the minute: the suite may take several runs
        rows = merged(name, rows, "id")
    ran = [row for row in rows if row["outcome"] != NOT_RUN]
    attacks = [row["outcome"] for row in ran if row["surface"] != suite.CONTROL]
    controls = [row["outcome"] for row in ran if row["surface"] == suite.CONTROL]
    figures = {
        "boxes": boxes,
        "attacks": len(attacks),
        "attacks_defended": attacks.count(DEFENDED),
        "controls": len(controls),
        "controls_accepted": controls.count("ACCEPTED"),
        "left_out": left,
        "host_changes": changed,
        "seconds": round(sum(row["seconds"] for row in rows), 1),
        "rows": rows,
    }
    keep(name, figures)


def _id(finding: Finding) -> str:
    return _id_of(finding.surface, finding.name, finding.language, finding.device)


def _id_of(surface: str, name: str, language: str, device: str) -> str:
    return f"{surface}/{name}/{language}/{device}"


def _known(options: argparse.Namespace) -> set[str]:
    """Ended as expected, with these very sources."""
    if options.on != "gpu":
        raise SystemExit("--missing goes with --on gpu: elsewhere nothing is kept from run to run")
    from results import known

    return known("hostile-gpu", "id", lambda row: row["outcome"] in (DEFENDED, "ACCEPTED"))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="beginnings of names, or surfaces")
    parser.add_argument("--json", action="store_true", help="keep what was found in benchmarks/results")
    gpu = "h200" if shutil.which("nvidia-smi") else CPU
    parser.add_argument("--device", default=gpu, help="cpu, or the board's name of this machine's GPU")
    parser.add_argument("--gpu", type=int, default=0, help="its number on this machine")
    parser.add_argument(
        "--on", default="all", choices=["all", "cpu", "gpu", "emulated"], help="judge only there"
    )
    parser.add_argument("--seconds", type=float, default=math.inf, help="begin no attack after this")
    parser.add_argument("--boxes", default="auto", choices=["auto", "docker", "bubblewrap", "local"])
    parser.add_argument(
        "--missing",
        action="store_true",
        help="of a GPU: only what did not end as it must yet, by these sources",
    )
    parser.add_argument("--alone", action="store_true", help="nobody else uses this host: count all there is")
    return parser.parse_args()


if __name__ == "__main__":
    began = time.perf_counter()
    code = main()
    print(f"{time.perf_counter() - began:.0f} s")
    sys.exit(code)
