"""Follows a submission on the server to its end, and says what exit code its end means."""

from __future__ import annotations

import time
from collections.abc import Callable

from grader import errors
from grader.cli.answers import understood
from grader.cli.client import Client, segment
from grader.cli.command import EXIT_INTERRUPTED
from grader.cli.report import put_report
from grader.cli.terminal import put_json, put_json_line, say
from grader.cli.watching import StatusDisplay, watch_for
from grader.schemas.pace import QUICKEST_S, SLOWEST_S, pace_s, spread
from grader.schemas.report import Report, Verdict
from grader.schemas.submission import State, SubmissionList, SubmissionView
from grader.schemas.verdict import Fault

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


def fetch_last(client: Client, challenge: str | None = None) -> SubmissionView:
    """One's latest submission. Raises NotFound where there is none."""
    found = understood(SubmissionList, client.get("/submissions", challenge=challenge, limit=1))
    if not found.submissions:
        what = f" for {challenge}" if challenge else ""
        raise errors.NotFound(f"You have no submission{what} yet.", "`grader submit FILE -c SLUG` makes one.")
    return found.submissions[0]


def to_the_end(
    client: Client, submission: str, timeout: float, *, json: str = "", filename: str | None = None
) -> int:
    """Show a submission until it ends, then its report; returns the exit code. ``json``: ``lines`` for one line a
    change and the report as the last, ``report`` for the report and the submission's id. Raises what ``follow``
    raises, Conflict for one that was cancelled, JudgeFailure for one that we failed to judge.
    """
    try:
        view = follow(client, submission, timeout, watch_for(json == "lines"))
    except KeyboardInterrupt:
        say(f"It goes on. Come back to it with: grader watch {submission}", "bold")
        return EXIT_INTERRUPTED
    refuse_unjudged(view)
    report = fetch_report(client, view.id)
    if json == "lines":
        put_json_line({"report": report})
    elif json:
        put_json({"submission": view.id, **report.model_dump(mode="json")})
    else:
        put_report(report, filename or view.filename)
    return exit_code(report.verdict)


def follow(
    client: Client,
    submission: str,
    timeout: float,
    watch: StatusDisplay | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> SubmissionView:
    """Show progress until the submission ends. ``timeout`` in seconds, 0 = no limit. Raises TimedOut, Unreachable."""
    began = last_seen = clock()
    pause = QUICKEST_S
    with watch or watch_for(json=False) as shown:
        while True:
            try:
                view = fetch(client, submission)
            except errors.Unreachable:
                if clock() - last_seen > AWAY_SECONDS:
                    raise
                shown.away(clock() - last_seen)
            except errors.TooMany:  # of our own asking: the submission is none the worse for it
                last_seen, pause = clock(), SLOWEST_S
            else:
                last_seen = clock()
                pause = spread(pace_s(view))
                if pause <= QUICKEST_S and last_seen - began < QUICK_FOR_SECONDS:
                    pause = POLL_SECONDS
                shown.show(view)
                if view.state.final:
                    return view
            waited = clock() - began
            if timeout and waited >= timeout:
                raise errors.TimedOut(
                    f"{submission} was not done within {timeout:g} s.",
                    f"It goes on: grader watch {submission}",
                )
            time.sleep(min(pause, timeout - waited) if timeout else pause)


def exit_code(verdict: Verdict | None) -> int:
    """What a verdict means to a script; None = not judged, which is no failure of the command."""
    if verdict is None:
        return errors.EXIT_ACCEPTED
    exit_codes = {Fault.NOBODY: errors.EXIT_ACCEPTED, Fault.PLATFORM: errors.EXIT_OUR_FAILURE}
    return exit_codes.get(verdict.row.fault, errors.EXIT_NOT_ACCEPTED)


def refuse_unjudged(view: SubmissionView) -> None:
    """Raises Conflict for a cancelled submission and JudgeFailure for one that we failed to judge."""
    if view.state is State.CANCELLED:
        raise errors.Conflict(f"{view.id} was cancelled.", "Submit it again to have it judged.")
    if view.state is State.FAILED:
        why = view.error or "the platform failed"
        raise errors.JudgeFailure(
            f"{view.id} could not be judged: {why}.", "It costs you nothing; submit it again."
        )
