"""Small challenges on two GPUs, with right and wrong sources, and their verdicts.

By hand: ``python -m tests.gpus.judged [BOARD] [SLUG/FILE ...]``.
"""

from __future__ import annotations

import sys
from pathlib import Path

from grader.challenge.catalogue import Catalogue
from grader.challenge.source import language_of
from grader.judge.at_home import judge_at_home
from grader.judge.device import Device
from grader.judge.request import Request
from grader.judge.session import Session
from grader.judge.timekeeper import Baselines
from grader.sandbox.box import BoxMaker
from grader.sandbox.local_box import LocalBoxes
from grader.schemas.report import Report, Verdict

FOLDER = Path(__file__).parent
CATALOGUE, KERNELS = FOLDER / "catalogue", FOLDER / "kernels"
ACCEPTED, WRONG, FAULT = Verdict.ACCEPTED, Verdict.WRONG_ANSWER, Verdict.RUNTIME_ERROR
# On the emulated GPU.
EMULATED = {
    "all_reduce/beyond.cu": FAULT,
    "all_reduce/beyond.py": FAULT,
    "all_reduce/copies.cu": ACCEPTED,
    "all_reduce/late.cu": WRONG,
    "all_reduce/mistakes.cu": FAULT,
    "all_reduce/nccl.cu": Verdict.COMPILE_ERROR,
    "all_reduce/only_first.cu": WRONG,
    "all_reduce/peer.cu": ACCEPTED,
    "all_reduce/peer.py": ACCEPTED,
    "all_reduce/spins.cu": FAULT,
    "all_reduce/wrong_stream.cu": FAULT,
    "halo_exchange/events.cu": ACCEPTED,
    "halo_exchange/not_ordered.cu": FAULT,
}
# On two cards. A race may go either way there, and the judge's arrays are in reach without peer access.
# Without spins.cu: nothing promises that both of its kernels are loaded before one waits, and on two H200s it
# did not end.
CARDS = {
    "all_reduce/beyond.cu": WRONG,
    "all_reduce/copies.cu": ACCEPTED,
    "all_reduce/late.cu": WRONG,
    "all_reduce/nccl.cu": ACCEPTED,
    "all_reduce/only_first.cu": WRONG,
    "all_reduce/peer.cu": ACCEPTED,
    "all_reduce/peer.py": ACCEPTED,
    # CUDA 13 runs it on the stream's GPU.
    "all_reduce/wrong_stream.cu": ACCEPTED,
    "halo_exchange/events.cu": ACCEPTED,
}


def judged_on(
    device: Device, name: str, boxes: BoxMaker, *, timing: bool = True, baselines: Baselines | None = None
) -> Report:
    path = KERNELS / name
    challenge = Catalogue(CATALOGUE).load(path.parent.name)
    request = Request(
        challenge=challenge,
        language=language_of(path.name, None),
        source=path.read_text(),
        device=device.name,
        seed_key=b"two gpus" * 4,
        cases=[*challenge.cases, *challenge.hidden_cases],
        baselines=baselines or {},
        timing=timing,
    )
    return Session(request, device, boxes, lambda _: None, lambda: None).run().report


def judged(name: str, boxes: BoxMaker, board: str, *, timing: bool = True) -> Report:
    """``name``: such as "all_reduce/peer.cu"."""
    path = KERNELS / name
    challenge = Catalogue(CATALOGUE).load(path.parent.name)
    return judge_at_home(
        challenge, path.read_text(), language_of(path.name, None), boxes, device=board, timing=timing
    )


def told(report: Report) -> list[str]:
    found = [f"{report.verdict.value} {report.detail} {report.hint}".strip()]
    found += [f"{case.name}: {case.verdict.value} {case.detail}" for case in report.cases if case.detail]
    found += [
        f"{workload.name}: {workload.time_us} us, baselines {workload.baselines_us}"
        for workload in report.workloads
    ]
    found += [*report.remarks, *[line for line in [report.compiler_log[:1000]] if line]]
    return found + [case.output[:500] for case in report.cases[:1] if case.output]


def main() -> None:
    board, *wanted = sys.argv[1:] or ["emulated"]
    for name in wanted or EMULATED:
        print(f"{name}:", *told(judged(name, LocalBoxes(), board)), sep="\n    ")


if __name__ == "__main__":
    main()
