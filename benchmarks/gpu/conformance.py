"""Whether the emulated GPU and a card compute the same: kernels, one for each instruction family and feature, and whole
programs, all of them in benchmarks/conformance, unmodified on both.

    python benchmarks/gpu/conformance.py --device card --json     on the card's machine: keeps what it computes
    python benchmarks/gpu/conformance.py --device emulated        anywhere: whether all of it runs
    python benchmarks/gpu/conformance.py --compare [--json]       anywhere: the emulated GPU against the card's results
                                                                  that were kept, kernel by kernel

NAMES limit it to those families and programs.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from results import FOLDER, keep

from benchmarks.conformance.suite import (
    CARD,
    EXPECTED,
    FAMILIES,
    CompileFailed,
    Emulated,
    Family,
    Result,
    compare,
    compare_programs,
    compile_for_card,
    compile_for_emulator,
    in_threads,
    kept_of_card,
    kernel_names,
    programs,
    results_in,
    run_on_card,
    run_on_emulator,
    with_entries,
)
from grader.sandbox.toolkit import cuda_home, nvcc_version

COMPARED = "conformance"
CARD_THREADS, EMULATED_THREADS = 14, 2
Rows = dict[str, list[dict[str, Any]]]


def chosen(names: Sequence[str]) -> tuple[list[Family], list[Path]]:
    return [family for family in FAMILIES if not names or family.name in names], [
        program for program in programs() if not names or program.stem in names
    ]


def on_card(names: Sequence[str], gpu: int) -> Rows:
    """What a card makes of each kernel and program."""
    nvcc, code = _nvcc(), _compute_capability(gpu)
    families, wanted = chosen(names)
    with tempfile.TemporaryDirectory() as made:

        def compiled(source: Family | Path) -> Path | None:
            try:
                if isinstance(source, Path):
                    return compile_for_card(nvcc, source, Path(made), code, architecture=code)
                return compile_for_card(
                    nvcc,
                    source.source,
                    Path(made),
                    code,
                    architecture=source.architecture,
                    flags=source.flags,
                )
            except CompileFailed as error:
                print(f"{source}: {error}", flush=True)
                return None

        everything: list[Family | Path] = [*families, *wanted]
        binaries = dict(zip(everything, in_threads(compiled, everything, CARD_THREADS), strict=True))
        rows: Rows = {"kernels": [], "programs": []}
        for family in families:
            if (binary := binaries[family]) is None:
                continue
            for only in kernel_names(family) if family.alone else [None]:
                try:
                    _, output = run_on_card(binary, gpu, only)
                except subprocess.TimeoutExpired:
                    print(f"{family.name} {only or ''}: does not end", flush=True)
                    continue
                rows["kernels"] += [kernel.kept() for kernel in results_in(output, family.name)]
            print(f"{family.name}: {len(rows['kernels'])} kernels so far", flush=True)
        for program in wanted:
            if (binary := binaries[program]) is None:
                continue
            try:
                exit_code, output = run_on_card(binary, gpu)
            except subprocess.TimeoutExpired:
                print(f"{program.stem}: does not end", flush=True)
                continue
            rows["programs"].append({"name": program.stem, "code": exit_code, "output": output})
            print(f"{program.stem}: {exit_code} {output.splitlines()[-1:]}", flush=True)
    return rows


def on_emulator(names: Sequence[str]) -> tuple[list[Result], dict[str, Emulated], list[str]]:
    """The kernels, the programs by name, and what the checker found in any of them."""
    nvcc = _nvcc()
    families, wanted = chosen(names)
    with tempfile.TemporaryDirectory() as made:

        def compiled(source: Family | Path) -> Path:
            if isinstance(source, Path):
                return compile_for_emulator(
                    nvcc, with_entries([source], Path(made)), Path(made), architecture=80
                )
            return compile_for_emulator(
                nvcc, source.source, Path(made), architecture=source.architecture, flags=source.flags
            )

        everything: list[Family | Path] = [*families, *wanted]
        libraries = dict(zip(everything, in_threads(compiled, everything, EMULATED_THREADS), strict=True))
        kernels: list[Result] = []
        found: list[str] = []
        for family in families:
            for only in kernel_names(family) if family.alone else [None]:
                ran = run_on_emulator(libraries[family], only)
                kernels += results_in(ran.output, family.name)
                found += ran.found
        ran_programs = {}
        for program in wanted:
            began = time.perf_counter()
            ran_programs[program.stem] = ran = run_on_emulator(libraries[program])
            found += [f"{program.stem}: {finding}" for finding in ran.found]
            print(f"{program.stem}: {time.perf_counter() - began:.2f} s", flush=True)
    return kernels, ran_programs, found


def show_emulated(names: Sequence[str]) -> int:
    """1 where a kernel or a program does not run on the emulated GPU, or the checker finds something in it."""
    kernels, ran_programs, found = on_emulator(names)
    refused = [kernel for kernel in kernels if kernel.error != "cudaSuccess" and kernel.family != "faults"]
    for kernel in refused:
        print(f"{kernel.family}/{kernel.name}: {kernel.error} {kernel.said}")
    failed = {name: ran for name, ran in ran_programs.items() if ran.code != 0}
    for name, ran in failed.items():
        print(f"{name}: {ran.code} {ran.refused} {ran.output[-300:]}")
    print("\n".join(found))
    unexpected = {kernel.name for kernel in refused} - EXPECTED.keys()
    print(f"{len(kernels) - len(refused)} of {len(kernels)} kernels and ", end="")
    print(f"{len(ran_programs) - len(failed)} of {len(ran_programs)} programs run")
    return int(bool(unexpected or failed or found))


def compare_with_card(names: Sequence[str], as_json: bool) -> int:
    """1 where something differs that ``EXPECTED`` does not explain."""
    card = kept_of_card(FOLDER)
    if card is None:
        raise SystemExit(f"{CARD} was not measured yet: see --help")
    kernels, ran_programs, found = on_emulator(names)
    here = {(kernel.family, kernel.name): kernel for kernel in kernels}
    there = {(kernel.family, kernel.name): kernel for kernel in card.kernels}
    compared = [compare(there[key], here[key]) for key in sorted(there.keys() & here.keys())]
    for name, ran in ran_programs.items():
        if name in card.programs:
            compared.append(compare_programs(name, card.programs[name], ran))
    for kernel in compared:
        if kernel.verdict != "equal":
            why = EXPECTED.get(kernel.name, "") if kernel.verdict == "differs" else ""
            print(f"{kernel.family + '/' + kernel.name:44} {kernel.verdict:8} {kernel.detail[:160]} {why}")
    for key in sorted(here.keys() - there.keys()):
        print(f"{'/'.join(key):44} was not run on the card")
    print("\n".join(found))
    counts = Counter(kernel.verdict for kernel in compared)
    print(", ".join(f"{count} {verdict}" for verdict, count in sorted(counts.items())))
    with_nans = sum(kernel.nans > 0 for kernel in compared)
    print(f"NaNs with other bits: in {with_nans} kernels")
    families: dict[str, Counter[str]] = {}
    for kernel in compared:
        families.setdefault(kernel.family, Counter())[kernel.verdict] += 1
    if as_json:
        shown = [
            {
                "name": f"{kernel.family}/{kernel.name}",
                "verdict": kernel.verdict,
                "detail": kernel.detail,
                "cause": EXPECTED.get(kernel.name, ""),
            }
            for kernel in compared
            if kernel.verdict != "equal"
        ]
        figures = {"counts": counts, "families": families, "kernels_with_other_nans": with_nans}
        keep(COMPARED, {**figures, "not_equal": shown, "findings": found})
    return int(any(kernel.verdict == "differs" and kernel.name not in EXPECTED for kernel in compared))


def _nvcc() -> Path:
    home = cuda_home()
    if home is None:
        raise SystemExit("nvcc is not here: see CUDA_HOME")
    return home / "bin" / "nvcc"


def _compute_capability(gpu: int) -> int:
    command = ["nvidia-smi", f"--id={gpu}", "--query-gpu=compute_cap", "--format=csv,noheader"]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return int(said.strip().replace(".", ""))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--device", choices=("card", "emulated"), default="emulated")
    parser.add_argument("--gpu", type=int, default=0)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--compare", action="store_true")
    options = parser.parse_args()
    if options.compare:
        return compare_with_card(options.names, options.json)
    if options.device == "emulated":
        return show_emulated(options.names)
    rows = on_card(options.names, options.gpu)
    if options.json:
        keep(CARD, {"nvcc": nvcc_version(), **rows})
    return 0


if __name__ == "__main__":
    sys.exit(main())
