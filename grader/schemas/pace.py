"""How often pages and command line look at a submission."""

from __future__ import annotations

import random

from grader.schemas.submission import SubmissionView

# A person notices no difference below this.
QUICKEST_S = 1.0
# Longest delay before a person sees that it has begun.
SLOWEST_S = 10.0
# Per expected wait.
_LOOKS = 10
# Random share of a pause: otherwise a class that submits together asks together.
_SPREAD = 0.2
# As for the quickest judgements.
_PLACE_S = 1.0


def pace_s(view: SubmissionView) -> float:
    """Seconds until the next look: short if something will have changed by then."""
    if view.position is None:
        return QUICKEST_S
    wait = view.expected_wait_s if view.expected_wait_s is not None else _PLACE_S * (view.position - 1)
    return min(SLOWEST_S, max(QUICKEST_S, wait / _LOOKS))


def spread(pause_s: float) -> float:
    """Randomised unless it is the shortest."""
    if pause_s <= QUICKEST_S:
        return pause_s
    return pause_s * random.uniform(1 - _SPREAD, 1 + _SPREAD)  # noqa: S311 - no secret
