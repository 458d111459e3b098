"""Whether the advice of a profile comes first that a kernel needs, and whether following it gains what it promises.

    python benchmarks/advice.py [--json] [SLUG/FILE ...]

Each pair is a kernel of ``benchmarks/variants`` that is slow for one reason, and one of the same challenge without that
reason. "wanted" are the kinds of advice that name the reason; "first" is the kind that comes first; "expected" is the
gain that it names, "all" that of all hints; "gained" is what the better one gains, in microseconds by the model.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parent / "gpu"))
sys.path.insert(0, str(Path(__file__).resolve().parent))

from agreement import Subject
from counting import count
from results import keep, merged
from sized import Questions, compiled, right, sized_case

from grader.challenge.catalogue import find_catalogue
from grader.device_kinds import EMULATED_ARCHITECTURE
from grader.sandbox.choose import make_boxes
from grader.sandbox.emulator.profile import profile_of
from grader.schemas.call_profile import CallProfile
from grader.schemas.profile_advice import hints_of

# Slow, better, and the kinds of advice that are right for the slow one.
PAIRS = (
    ("transpose/naive.cu", "transpose/tile_padded.cu", ("coalescing",)),
    ("transpose/strided_writes.cu", "transpose/tile_padded.cu", ("coalescing",)),
    ("transpose/strided_reads.cu", "transpose/tile_padded.cu", ("coalescing",)),
    ("transpose/tile_conflicts.cu", "transpose/tile_padded.cu", ("banks",)),
    ("vector_add/runs_of_32.cu", "vector_add/one_each.cu", ("coalescing",)),
    ("vector_add/small_blocks.cu", "vector_add/one_each.cu", ("small blocks", "little work")),
    ("vector_add/few_threads.cu", "vector_add/grid_stride.cu", ("few blocks",)),
    ("vector_add/blocks_of_128.py", "vector_add/solution.py", ("little work",)),
    ("matmul/uncoalesced.cu", "matmul/naive.cu", ("coalescing",)),
    ("matmul/naive.cu", "matmul/solution.cu", ("reuse",)),
    ("matmul/tile_conflicts.cu", "matmul/tile_32.cu", ("banks",)),
    ("reduce_sum/one_block.cu", "reduce_sum/solution.cu", ("few blocks",)),
    ("reduce_sum/runs_of_64.cu", "reduce_sum/solution.cu", ("coalescing",)),
    ("reduce_sum/atomic_each_warp.cu", "reduce_sum/atomic_each_block.cu", ("atomics",)),
    ("reduce_sum/tree_divergent.cu", "reduce_sum/two_launches.cu", ("divergence", "atomics")),
    ("reduce_sum/blocks_of_512.py", "reduce_sum/blocks_of_16384.py", ("little work", "atomics")),
    ("histogram/global_atomics.cu", "histogram/shared_per_block.cu", ("atomics",)),
    ("gelu/divergent.cu", "gelu/one_each.cu", ("divergence",)),
    ("conv1d/launch_per_weight.cu", "conv1d/naive.cu", ("launches", "passes")),
    ("softmax/thread_per_row.cu", "softmax/warp_per_row.cu", ("coalescing",)),
    ("layernorm/thread_per_row.cu", "layernorm/three_passes.cu", ("coalescing",)),
    ("rmsnorm/recomputed_by_each.cu", "rmsnorm/warp_per_row.cu", ("reuse",)),
    ("attention/no_shared.cu", "attention/tiles_of_16.cu", ("reuse",)),
)


def counted(subjects: Sequence[Subject], folder: Path) -> dict[str, CallProfile]:
    catalogue, questions = find_catalogue(), Questions()
    found: dict[str, CallProfile] = {}
    for subject, program in compiled(
        subjects, catalogue, make_boxes("local"), EMULATED_ARCHITECTURE, 1, folder
    ):
        if program is None:
            raise SystemExit(f"{subject.name} does not compile")
        challenge = catalogue.load(subject.slug)
        got = count(challenge, sized_case(challenge), questions.of(challenge), program)
        if got.wrong:
            print(f"{subject.name} is wrong: {got.wrong}", file=sys.stderr)
        found[subject.name] = CallProfile.model_validate(profile_of(got.launches, got.copies, got.copied))
    return found


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("subjects", nargs="*")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--all", action="store_true", help="print every hint")
    options = parser.parse_args()
    pairs = [pair for pair in PAIRS if not options.subjects or pair[0] in options.subjects]
    wanted = sorted({name for slow, better, _ in pairs for name in (slow, better)})
    subjects = {subject.name: subject for subject in right(find_catalogue(), [])}
    missing = [name for name in wanted if name not in subjects]
    if missing:
        raise SystemExit(f"unknown: {', '.join(missing)}; known: {', '.join(sorted(subjects))}")
    with TemporaryDirectory(prefix="grader-advice-") as name:
        profiles = counted([subjects[name] for name in wanted], Path(name))
    rows: list[dict[str, Any]] = []
    print(f"{'slow':32} {'us':>9} {'wanted':24} {'first':14} {'expected':>9} {'all':>9} {'gained':>9}")
    for slow, better, kinds in pairs:
        hints = hints_of(profiles[slow])
        first = hints[0] if hints else None
        row = {
            "name": slow,
            "better": better,
            "us": round(profiles[slow].time_us, 2),
            "wanted": " or ".join(kinds),
            "first": first.kind if first else "",
            "expected_us": round(first.us, 2) if first else 0.0,
            "all_us": round(sum(hint.us for hint in hints), 2),
            "gained_us": round(profiles[slow].time_us - profiles[better].time_us, 2),
            "right": first is not None and first.kind in kinds,
        }
        rows.append(row)
        mark = "" if row["right"] else "  WRONG"
        print(
            f"{slow:32} {row['us']:9.2f} {row['wanted']:24} {row['first']:14} {row['expected_us']:9.2f} "
            f"{row['all_us']:9.2f} {row['gained_us']:9.2f}{mark}"
        )
        for hint in hints if options.all else ():
            print(f"    {hint.us:9.2f} {hint.kind}: {hint.sentence}")
    right_first = sum(row["right"] for row in rows)
    print(f"{right_first} of {len(rows)} have the right advice first")
    if options.json:
        keep("advice", {"right": right_first, "of": len(rows), "rows": merged("advice", rows, "name")})
    return 0 if right_first == len(rows) else 1


if __name__ == "__main__":
    sys.exit(main())
