"""Follows a submission on the server to its end, and says what exit code its end means."""

from __future__ import annotations

import time
from collections.abc import Callable

from grader import errors
from grader.cli.answers import understood
from grader.cli.client import Client, segment
from grader.cli.progress import Display
from grader.schemas.pace import QUICKEST_S, pace_s
from grader.schemas.report import Report, Verdict
from grader.schemas.submission import State, SubmissionView, WaitReason

# Quick while it is judged and just after, when small kernels end; in the queue as seldom as its length allows.
POLL_SECONDS = 0.25
QUICK_FOR_SECONDS = 20.0
# A server that restarts is back by then.
AWAY_SECONDS = 30.0


def fetch(client: Client, submission: str) -> SubmissionView:
    """The submission as it is now."""
    return understood(SubmissionView, client.get(f"/submissions/{segment(submission)}"))


def fetch_report(client: Client, submission: str) -> Report:
    """The report of a submission that is done."""
    return understood(Report, client.get(f"/submissions/{segment(submission)}/report"))


def follow(
    client: Client, submission: str, timeout: float, clock: Callable[[], float] = time.monotonic
) -> SubmissionView:
    """Show progress until the submission ends. ``timeout`` in seconds, 0 = no limit. Raises TimedOut, Unreachable."""
    began = last_seen = clock()
    pause = QUICKEST_S
    with Display() as display:
        while True:
            try:
                view = fetch(client, submission)
            except errors.Unreachable:
                if clock() - last_seen > AWAY_SECONDS:
                    raise
            else:
                last_seen = clock()
                pause = pace_s(view)
                if pause <= QUICKEST_S and last_seen - began < QUICK_FOR_SECONDS:
                    pause = POLL_SECONDS
                display.show(view.state, view.progress, waiting_words(view), obstacle(view))
                if view.state.final:
                    return view
            waited = clock() - began
            if timeout and waited >= timeout:
                raise errors.TimedOut(
                    f"{submission} was not done within {timeout:g} s.",
                    f"It goes on: grader watch {submission}",
                )
            time.sleep(min(pause, timeout - waited) if timeout else pause)


def waiting_words(view: SubmissionView) -> str:
    """``place 3, about 20 s`` while it waits, and why nothing moves, where nothing does; empty otherwise."""
    if view.position is None:
        return ""
    wait = "" if view.expected_wait_s is None else f", about {view.expected_wait_s:.0f} s"
    why = obstacle(view)
    return f"place {view.position}{wait}" + (f". {why}" if why else "")


def obstacle(view: SubmissionView) -> str:
    """What must change before it moves at all, which the place alone does not tell; empty where it moves."""
    waits_for = view.waits_for
    if waits_for is None or waits_for.reason in (WaitReason.AHEAD, WaitReason.NEXT):
        return ""
    since = f" (since {waits_for.since.astimezone():%Y-%m-%d %H:%M})" if waits_for.since else ""
    return f"{waits_for.text}{since}"


def exit_code(verdict: Verdict | None) -> int:
    """What a verdict means to a script; None = not judged, which is no failure of the command."""
    if verdict is None or verdict is Verdict.ACCEPTED:
        return errors.EXIT_ACCEPTED
    return errors.EXIT_OUR_FAILURE if verdict is Verdict.INTERNAL_ERROR else errors.EXIT_NOT_ACCEPTED


def refuse_unjudged(view: SubmissionView) -> None:
    """Raises Conflict for a cancelled submission and JudgeFailure for one that we failed to judge."""
    if view.state is State.CANCELLED:
        raise errors.Conflict(f"{view.id} was cancelled.", "Submit it again to have it judged.")
    if view.state is State.FAILED:
        why = view.error or "the platform failed"
        raise errors.JudgeFailure(
            f"{view.id} could not be judged: {why}.", "It costs you nothing; submit it again."
        )
