"""How often to look at a submission: our pages and the command line keep to this."""

from __future__ import annotations

import random

from grader.schemas.submission import SubmissionView

# A person sees no difference below this; and what is being judged changes about as often.
QUICKEST_S = 1.0
# Nobody waits longer than about this to read that it has begun.
SLOWEST_S = 10.0
# A look for each so-many-th part of the wait: the number that is shown is never far off.
_LOOKS = 10
# Of a pause, to either side, by chance. A class that submits at one word would look at one moment, again and again.
_SPREAD = 0.2
# Taken for a place where nobody knows how long one takes: about what the quickest judgement does.
_PLACE_S = 1.0


def pace_s(view: SubmissionView) -> float:
    """Seconds until the next look: soon where something will have changed by then, seldom far down in the queue."""
    if view.position is None:
        return QUICKEST_S
    wait = view.expected_wait_s if view.expected_wait_s is not None else _PLACE_S * (view.position - 1)
    return min(SLOWEST_S, max(QUICKEST_S, wait / _LOOKS))


def spread(pause_s: float) -> float:
    """What one pauses in place of ``pause_s``; what is quick stays as it is."""
    if pause_s <= QUICKEST_S:
        return pause_s
    return pause_s * random.uniform(1 - _SPREAD, 1 + _SPREAD)  # noqa: S311 - no secret
