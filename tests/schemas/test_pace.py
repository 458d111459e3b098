"""How often one looks at a submission."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from grader.languages import Language
from grader.schemas.pace import QUICKEST_S, SLOWEST_S, pace_s
from grader.schemas.submission import State, SubmissionView


@pytest.mark.parametrize(
    ("position", "wait_s", "pace"),
    [
        (None, None, QUICKEST_S),  # in a worker's hands
        (1, 0.0, QUICKEST_S),
        (3, 4.0, QUICKEST_S),
        (3, 40.0, 4.0),
        (40, None, 3.9),  # nobody knows how long one takes
        (900, 1800.0, SLOWEST_S),
    ],
)
def test_the_polling_interval_is_a_tenth_of_the_wait(
    position: int | None, wait_s: float | None, pace: float
) -> None:
    view = SubmissionView(
        id="x",
        user="ada",
        challenge="scale",
        version=1,
        language=Language.TRITON,
        device="cpu",
        filename="a.py",
        state=State.QUEUED if position else State.TESTING,
        position=position,
        expected_wait_s=wait_s,
        attempt=0,
        created_at=datetime.now(UTC),
    )
    assert pace_s(view) == pytest.approx(pace)
