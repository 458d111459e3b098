"""The sources of ``kernels`` judged on one board, by hand: ``python -m tests.gpus.judged [BOARD] [SLUG/FILE ...]``."""

from __future__ import annotations

import sys
from pathlib import Path

from grader.challenge.catalogue import Catalogue
from grader.judge.at_home import judge_at_home
from grader.languages import Language
from grader.sandbox.box import BoxMaker
from grader.sandbox.forked_box import ForkedBoxes
from grader.schemas.report import Report

FOLDER = Path(__file__).parent
CATALOGUE = FOLDER / "catalogue"


def judged(path: Path, boxes: BoxMaker, board: str, *, timing: bool = True) -> Report:
    challenge = Catalogue(CATALOGUE).load(path.parent.name)
    language = Language.CUDA if path.suffix == ".cu" else Language.TRITON
    return judge_at_home(challenge, path.read_text(), language, boxes, device=board, timing=timing)


def main() -> None:
    board, *wanted = sys.argv[1:] or ["emulated"]
    boxes = ForkedBoxes()
    paths = [FOLDER / "kernels" / name for name in wanted] or sorted(FOLDER.glob("kernels/*/*.cu"))
    for path in paths:
        report = judged(path, boxes, board)
        print(f"{path.parent.name}/{path.name}: {report.verdict.value}", report.detail, report.hint)
        for case in report.cases:
            print(f"    {case.name}: {case.verdict.value} {case.detail}")
        for workload in report.workloads:
            print(f"    {workload.name}: {workload.time_us} us {workload.roofline_us}")
        for line in [*report.remarks, report.compiler_log[:2000]]:
            if line:
                print(f"    {line}")
    boxes.close()


if __name__ == "__main__":
    main()
