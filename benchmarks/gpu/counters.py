"""What the emulated GPU counts, held against a card's hardware counters as Nsight Compute reads them: 40 kernels of
known kinds, on the same inputs (``sized.py``).

    python benchmarks/gpu/counters.py --device card --json      on the card's machine, as root
    python benchmarks/gpu/counters.py --device emulated --json  anywhere
    python benchmarks/gpu/counters.py --compare                 both kept: how many are within 2 %, and the others

A card runs SASS and the emulated GPU PTX: accesses to memory are the same in both, numbers of instructions are not, and
are compared as a ratio. Kernels are chosen that take the same way on both: none that asks for sm_90.
"""

from __future__ import annotations

import argparse
import csv
import io
import math
import os
import shutil
import statistics
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from agreement import Subject
from model import CARD, answers, halves, keep_rows, libraries, ready_for_card
from on_card import MARK
from sized import Questions, compiled, right, sized_case

from grader.challenge.catalogue import Catalogue, find_catalogue
from grader.device_kinds import EMULATED, EMULATED_ARCHITECTURE
from grader.sandbox.choose import make_boxes
from grader.sandbox.emulator.model import Launch, occupancy_of

NAME = "counters"
KERNELS = (
    "vector_add/solution.cu", "vector_add/one_each.cu", "vector_add/runs_of_32.cu", "vector_add/grid_stride.cu",
    "vector_add/backwards_in_shared.cu", "saxpy/one_each.cu", "saxpy/every_eighth.cu", "relu/solution.cu",
    "gelu/solution.cu", "gelu/one_each.cu", "gelu/double_precision.cu", "gelu/divergent.cu",
    "reduce_sum/atomic_each_warp.cu", "reduce_sum/atomic_each_block.cu", "reduce_sum/tree.cu",
    "reduce_sum/tree_divergent.cu", "reduce_sum/tree_conflicts.cu", "reduce_sum/runs_of_64.cu", "dot/few_blocks.cu",
    "argmax_rows/block_per_row.cu", "argmax_rows/thread_per_row.cu", "inclusive_scan/hillis_steele.cu",
    "inclusive_scan/blelloch_conflicts.cu", "inclusive_scan/shuffles.cu", "transpose/strided_writes.cu",
    "transpose/strided_reads.cu", "transpose/tile_conflicts.cu", "transpose/tile_padded.cu", "transpose/tile_16.cu",
    "matmul/naive.cu", "matmul/tile_16.cu", "matmul/tile_conflicts.cu", "matmul/four_by_four.cu",
    "matmul_fp16/wmma_from_memory.cu", "softmax/three_passes.cu", "softmax/warp_per_row.cu",
    "conv1d/tile_in_shared.cu", "conv2d/naive.cu", "conv2d/down_columns.cu", "histogram/shared_per_block.cu",
    "histogram/copy_per_warp.cu", "histogram/match_in_warp.cu",
    "histogram/global_atomics.cu", "spmv_csr/thread_per_row.cu", "spmv_csr/warp_per_row.cu",
)  # fmt: skip
# ncu starts Python again for each share; kernels that a share loses are tried again alone.
SHARE = 6
PATIENCE_SECONDS = 120.0
NEAR = 0.02
# Our names for what Nsight Compute counts; what it does not know is asked for no further. Of several, the sum.
METRICS: dict[str, tuple[str, ...]] = {
    "load_requests": ("l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",),
    "load_sectors": ("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",),
    "store_requests": ("l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",),
    "store_sectors": ("l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",),
    "atomic_requests": (
        "l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum",
        "l1tex__t_requests_pipe_lsu_mem_global_op_red.sum",
    ),
    "shared_load_wavefronts": ("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",),
    "shared_store_wavefronts": ("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",),
    "shared_load_conflicts": ("l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",),
    "shared_store_conflicts": ("l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum",),
    # Of the same accesses, by addresses alone: what the pipe does besides is not in them.
    "shared_load_wavefronts_of_addresses": (
        "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
    ),
    "shared_store_wavefronts_of_addresses": (
        "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
    ),
    "shared_wavefronts_of_addresses": ("smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared.sum",),
    "shared_load_instructions": ("smsp__sass_inst_executed_op_shared_ld.sum",),
    "shared_store_instructions": ("smsp__sass_inst_executed_op_shared_st.sum",),
    "shared_atomic_wavefronts": ("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_atom.sum",),
    "shared_wavefronts": ("l1tex__data_pipe_lsu_wavefronts_mem_shared.sum",),
    "instructions": ("smsp__inst_executed.sum",),
    "thread_instructions": ("smsp__thread_inst_executed.sum",),
    "l2_sectors": ("lts__t_sectors_srcunit_tex.sum",),
    "dram_read_bytes": ("dram__bytes_read.sum",),
    "registers": ("launch__registers_per_thread",),
    "time_ns": ("gpu__time_duration.sum",),
}
# Of a multiprocessor: the least of these.
LIMITS = tuple(f"launch__occupancy_limit_{limit}" for limit in ("blocks", "registers", "shared_mem", "warps"))
# Compared as they are; the others as a ratio.
EXACT = (
    "load_requests", "load_sectors", "store_requests", "store_sectors", "atomic_requests", "shared_load_wavefronts",
    "shared_store_wavefronts", "shared_load_wavefronts_of_addresses", "shared_store_wavefronts_of_addresses",
    "shared_load_instructions", "shared_store_instructions", "shared_load_ideal", "shared_store_ideal",
    "shared_load_conflicts", "shared_store_conflicts",
    "threads_of_instruction", "resident",
)  # fmt: skip
RATIOS = (
    "shared_atomic_wavefronts",
    "shared_wavefronts",
    "instructions",
    "l2_sectors",
    "dram_read_bytes",
    "registers",
)
WHERE = (
    "/usr/local/cuda/bin/ncu",
    "/usr/local/cuda-*/bin/ncu",
    "/opt/nvidia/nsight-compute/*/ncu",
    "/usr/local/cuda*/nsight-compute*/ncu",
)

# ---- the card


def on_card(
    subjects: Sequence[Subject], catalogue: Catalogue, options: argparse.Namespace
) -> Iterator[dict[str, Any]]:
    """A row for each kernel. Raises SystemExit if there is no ncu, or it reads no counters."""
    program = find_ncu()
    began = time.monotonic()
    end = began + options.seconds
    with TemporaryDirectory(prefix="grader-counters-") as name:
        asked = ready_for_card(subjects, catalogue, Path(name), options.gpu)
        print(f"ncu is {program}; all compiled after {time.monotonic() - began:.0f} s", flush=True)
        ncu = Ncu(program, Path(name), options.gpu, end)
        lost: list[dict[str, str]] = []
        known = 0
        for at in range(0, len(asked), SHARE):
            share = asked[at : at + SHARE]
            told = list(ncu.rows(share))
            yield from told
            known += len(told)
            if not known and at:
                raise SystemExit("ncu reads no counters here: see above what it said")
            lost += [
                subject for subject in share if not any(row["subject"] == subject["name"] for row in told)
            ]
        for subject in lost:
            yield from ncu.rows([subject])


def find_ncu() -> str:
    if found := shutil.which("ncu"):
        return found
    for pattern in WHERE:
        for path in sorted(Path("/").glob(pattern[1:]), reverse=True):
            if os.access(path, os.X_OK):
                return str(path)
    raise SystemExit(f"there is no ncu: neither on PATH nor at {', '.join(WHERE)}")


class Ncu:
    """Runs ``on_card.py`` under ncu. Its ``metrics`` become fewer where this version does not know one."""

    def __init__(self, program: str, folder: Path, gpu: int, end: float) -> None:
        self.program, self.folder, self.gpu, self.end = program, folder, gpu, end
        self.metrics = [*(metric for each in METRICS.values() for metric in each), *LIMITS]
        self.runs = 0

    def rows(self, asked: Sequence[dict[str, str]]) -> Iterator[dict[str, Any]]:
        """Prints why for what it has no row for."""
        for _ in range(4):
            said, table = self._run(asked)
            messages = "\n".join(line for line in said.splitlines() if line.startswith("=="))
            unknown = [metric for metric in self.metrics if metric in messages]
            if table or not unknown:
                break
            print(f"this ncu does not know {', '.join(unknown)}", flush=True)
            self.metrics = [metric for metric in self.metrics if metric not in unknown]
        if not table:
            print(f"ncu told of no kernel: {said[-1200:]}", flush=True)
        yield from table

    def _run(self, asked: Sequence[dict[str, str]]) -> tuple[str, list[dict[str, Any]]]:
        self.runs += 1
        log, label = self.folder / f"ncu{self.runs}.csv", f"counters{self.runs}"
        before = [
            self.program, "--profile-from-start", "off", "--clock-control", "none", "--target-processes", "all",
            "--csv", "--page", "raw", "--print-units", "base", "--log-file", str(log),
            "--metrics", ",".join(self.metrics),
        ]  # fmt: skip
        marked: list[str] = []
        failed = False
        for answer in answers(
            asked, "profile", self.folder, self.gpu, self.end, label, before, PATIENCE_SECONDS
        ):
            if "error" in answer:
                failed = True
                print(f"{answer['name']}: {answer['error']}", flush=True)
            elif answer.get("marked"):
                marked.append(answer["name"])
        if failed and len(asked) > 1:
            # ncu's lines cannot be matched to kernels then, so each kernel is run alone.
            marked = []
        output = self.folder / f"{label}.log"
        said = "\n".join(path.read_text(errors="replace") for path in (log, output) if path.exists())
        return said, rows_of(said, marked)


def rows_of(said: str, marked: Sequence[str]) -> list[dict[str, Any]]:
    """ncu's table, a row for each kernel. The marking kernels between subjects are ``on_card.py``'s."""
    subject, number, found = -1, 0, []
    for line in table_of(said):
        if MARK in line["Kernel Name"]:
            subject, number = subject + 1, 0
            continue
        if not 0 <= subject < len(marked):
            continue
        counts = {name: _sum(line, metrics) for name, metrics in METRICS.items()}
        limits = [value for limit in LIMITS if (value := _number(line.get(limit, ""))) is not None]
        found.append(
            {
                "name": f"{marked[subject]} {number}",
                "subject": marked[subject],
                "kernel": line["Kernel Name"].partition("(")[0],
                **{name: value for name, value in counts.items() if value is not None},
                **({"resident": min(limits)} if limits else {}),
            }
        )
        number += 1
    return [with_shares(launch) for launch in found]


def table_of(said: str) -> list[dict[str, str]]:
    """The lines of ncu's CSV that are of kernels: neither messages ahead of it nor the line of units."""
    lines = said.splitlines()
    start = next((at for at, line in enumerate(lines) if line.startswith('"ID"')), None)
    if start is None:
        return []
    table = [line for line in lines[start:] if line.startswith('"')]
    return [row for row in csv.DictReader(io.StringIO("\n".join(table))) if (row["ID"] or "").isdigit()]


def _sum(line: Mapping[str, str], metrics: Sequence[str]) -> float | None:
    values = [value for metric in metrics if (value := _number(line.get(metric, ""))) is not None]
    return sum(values) if values else None


def _number(text: str | None) -> float | None:
    try:
        return float((text or "").replace(",", ""))
    except ValueError:
        return None


def with_ideals(row: dict[str, Any]) -> dict[str, Any]:
    """Also passes without conflicts: as conflicts, a card counts passes that wait for others' data, too."""
    for access in ("load", "store"):
        wavefronts = row.get(f"shared_{access}_wavefronts")
        if wavefronts is not None:
            row[f"shared_{access}_ideal"] = wavefronts - row.get(f"shared_{access}_conflicts", 0.0)
    return row


def with_shares(row: dict[str, Any]) -> dict[str, Any]:
    if row.get("instructions"):
        threads = row.get("thread_instructions", math.nan)
        row["threads_of_instruction"] = round(threads / row["instructions"], 4)
    return row


# ---- the emulated GPU


def emulated(
    subjects: Sequence[Subject], catalogue: Catalogue, options: argparse.Namespace
) -> Iterator[dict[str, Any]]:
    from counting import count

    questions = Questions()

    def one(subject: Subject, program: Path | None) -> list[dict[str, Any]]:
        if program is None:
            return []
        challenge = catalogue.load(subject.slug)
        case = sized_case(challenge)
        try:
            found = count(challenge, case, questions.of(challenge), program)
        except Exception as error:  # whatever goes wrong with one must not lose the others
            print(f"{subject.name}: {type(error).__name__}: {error}"[:300], flush=True)
            return []
        if found.wrong:
            print(f"{subject.name}: {found.wrong}", flush=True)
        return [
            with_shares({"name": f"{subject.name} {number}", "subject": subject.name, **counts_of(launch)})
            for number, launch in enumerate(found.launches)
        ]

    with libraries(options) as folder, ThreadPoolExecutor(options.jobs) as pool:
        ready = compiled(
            subjects, catalogue, make_boxes("local"), EMULATED_ARCHITECTURE, options.jobs, folder
        )
        for rows in pool.map(lambda task: one(*task), ready):
            yield from rows


def counts_of(launch: Launch) -> dict[str, Any]:
    """As ``METRICS`` has them."""
    counts: dict[str, Any] = {name: 0 for name in METRICS if name not in ("registers", "time_ns")}
    for row in launch.rows:
        access = row.work.access
        counts["instructions"] += row.issued
        counts["thread_instructions"] += row.lanes
        if access in ("load", "store"):
            counts[f"{access}_requests"] += row.requests
            counts[f"{access}_sectors"] += row.sectors
            counts[f"shared_{access}_wavefronts"] += row.passes
            counts[f"shared_{access}_wavefronts_of_addresses"] += row.passes
            counts[f"shared_{access}_instructions"] += row.shared_requests
            counts[f"shared_{access}_conflicts"] += row.passes - row.ideal_passes
        elif access == "atomic":
            counts["atomic_requests"] += row.requests
            counts["shared_atomic_wavefronts"] += row.passes
        counts["shared_wavefronts"] += row.passes
        counts["shared_wavefronts_of_addresses"] += row.passes
        counts["l2_sectors"] += row.l2
        if access == "load":
            counts["dram_read_bytes"] += 32 * row.dram
    if launch.registers is not None:
        counts["registers"] = launch.registers
    return {"kernel": launch.kernel, **counts, "resident": occupancy_of(launch).blocks}


# ---- both


def compare() -> int:
    card, model = ({row["name"]: with_ideals(row) for row in half} for half in halves(NAME))
    names = sorted(card.keys() & model.keys())
    for name in sorted(card.keys() ^ model.keys()):
        print(f"only in one of them: {name}")
    print(f"\n{len(names)} kernels of {len({card[name]['subject'] for name in names})} sources")
    for metric in EXACT:
        pairs = [
            (name, float(card[name][metric]), float(model[name][metric]))
            for name in names
            if metric in card[name] and metric in model[name]
        ]
        # Where neither has any, there is nothing to agree on.
        pairs = [pair for pair in pairs if pair[1] or pair[2]]
        far = [pair for pair in pairs if abs(pair[2] - pair[1]) > NEAR * max(abs(pair[1]), 1.0)]
        print(f"{metric:26} {len(pairs) - len(far):3} of {len(pairs):3} within {NEAR:.0%}")
        for name, measured, counted in sorted(
            far, key=lambda pair: -abs(pair[2] - pair[1]) / max(pair[1], 1.0)
        ):
            print(f"    {name:46} card {measured:14,.2f}  emulated {counted:14,.2f}")
    print("\nemulated by card: median, least and most")
    for metric in RATIOS:
        ratios = sorted(
            (model[name][metric] / card[name][metric], name)
            for name in names
            if card[name].get(metric) and model[name].get(metric)
        )
        if ratios:
            middle = statistics.median(ratio for ratio, _ in ratios)
            (least, first), (most, last) = ratios[0], ratios[-1]
            print(f"{metric:26} {middle:6.2f}  {least:6.2f} {first}  {most:6.2f} {last}")
    return 0


def measure(options: argparse.Namespace) -> int:
    catalogue = find_catalogue()
    chosen = options.subjects or KERNELS
    subjects = [subject for subject in right(catalogue, chosen) if subject.language.compiled]
    take = on_card if options.device == CARD else emulated
    rows: list[dict[str, Any]] = []
    for row in take(subjects, catalogue, options):
        rows.append(row)
        print(
            f"{row['name']:46} "
            + "  ".join(
                f"{count} {row.get(count, math.nan):12,.0f}"
                for count in ("load_requests", "load_sectors", "instructions")
            ),
            flush=True,
        )
        if options.json:
            keep_rows(f"{NAME}_{options.device}", rows)
    missing = {subject.name for subject in subjects} - {subject["subject"] for subject in rows}
    print(
        f"{len(rows)} kernels of {len(subjects) - len(missing)} sources"
        + "".join(f"\nnone of {name}" for name in missing)
    )
    return int(bool(missing))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("subjects", nargs="*", metavar="SLUG")
    parser.add_argument("--device", choices=(CARD, EMULATED), default=EMULATED)
    parser.add_argument("--gpu", type=int, default=0)
    parser.add_argument(
        "--seconds", type=float, default=420.0, help="on a card: begin nothing more after this"
    )
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)), help="of the emulated GPU")
    parser.add_argument(
        "--libraries", type=Path, help="folder that keeps what was compiled for the emulated GPU"
    )
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--compare", action="store_true")
    options = parser.parse_args()
    return compare() if options.compare else measure(options)


if __name__ == "__main__":
    sys.exit(main())
