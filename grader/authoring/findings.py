"""Makes the findings of ``grader.schemas.proof``."""

from __future__ import annotations

from grader.schemas.proof import Check, Status


def unless_waived(found: Check, reason: str | None) -> Check:
    """The problems of a waived check become remarks."""
    if reason is None or found.status is not Status.WEAK:
        return found
    problems = found.details or [found.summary]
    return Check(name=found.name, status=Status.OK, summary=f"waived: {reason}", remarks=problems)


def check(
    name: str, problems: list[str], good: str, *, bad: Status = Status.WEAK, remarks: list[str] | None = None
) -> Check:
    if not problems:
        return Check(name=name, status=Status.OK, summary=good, remarks=remarks or [])
    summary = problems[0] if len(problems) == 1 else f"{len(problems)} problems"
    details = [] if len(problems) == 1 else problems
    return Check(name=name, status=bad, summary=summary, details=details, remarks=remarks or [])
