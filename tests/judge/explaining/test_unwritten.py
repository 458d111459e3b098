"""What is said about an element that nothing wrote."""

from __future__ import annotations

from typing import Any

import pytest

from grader.judge.explaining.records.unwritten import Absent
from grader.judge.messages import Reason, Would

SOURCE = "kernel\n    if (i < n - 1) {\n        out[i] = 1;\n"


def absent(*, programs: bool = False, **changes: Any) -> Absent:
    values = {
        "work": 0, "kernel": "k", "grid": (7, 1, 1), "threads": (256, 1, 1), "block": (2, 0, 0), "thread": (31, 0, 0),
        "like": 542, "like_block": (2, 0, 0), "like_thread": (30, 0, 0), "size": 4,
    }  # fmt: skip
    return Absent("out", (1800,), 543, Would.model_validate({**values, **changes}), programs)


@pytest.mark.parametrize(
    ("given", "reason", "sentence"),
    [
        (
            absent(),
            Reason(how="branch", line=2, store_line=3, compared=[543, 543]),
            "Thread 31 of block 2 would write it, but line 2 (`if (i < n - 1)`) keeps it from its store in line 3, "
            "comparing 543 with 543; thread 30 of block 2 writes out[542].",
        ),
        (
            absent(programs=True, like_block=(1, 0, 0), like=287),
            Reason(how="mask", line=3, store_line=3),
            "Program 2 would write it, but the mask of its store in line 3 is false there; program 1 writes out[287].",
        ),
        (
            absent(),
            Reason(how="elsewhere", line=3, store_line=3, elements=[7, -1], stores=5),
            "Thread 31 of block 2 would write it, but its stores in line 3 go to out[7], a place outside out, 3 more; "
            "thread 30 of block 2 writes out[542].",
        ),
        (
            absent(block=(7, 0, 0), thread=(0, 0, 0)),
            None,
            "No block covers it: the grid of k has 7 blocks, and by the index that the others use, block 7 would "
            "write it.",
        ),
        (
            absent(block=(3, 0, 0), grid=(3, 5, 1), programs=True),
            None,
            "No program covers it: the grid of k has 3 x 5 programs, and by the index that the others use, program 3 "
            "would write it.",
        ),
        (
            absent(block=(0, 0, 0), grid=(1, 1, 1), thread=(256, 0, 0)),
            None,
            "No thread covers it: by the index that the others use, thread 256 would write it, and k runs as 1 block "
            "of 256 threads.",
        ),
    ],
)
def test_the_sentence(given: Absent, reason: Reason | None, sentence: str) -> None:
    assert given.sentence(reason, SOURCE) == sentence
