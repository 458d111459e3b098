from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from grader import limits
from grader.diff import Matcher
from grader.errors import BadRequest, Conflict
from grader.schemas.report import CaseVerdict, Report, WorkloadReport
from grader.schemas.submission import SourceView, SubmissionView
from grader.service.accounts.accounts import User
from grader.service.platform import Platform
from grader.service.submissions import submissions

_EARLIER_MOST = 50


@dataclass(frozen=True)
class Block:
    """Ranges are half-open, from 0."""

    same: bool
    before: tuple[int, int]
    after: tuple[int, int]


@dataclass(frozen=True)
class JudgedSide:
    view: SubmissionView
    source: SourceView
    report: Report | None


@dataclass(frozen=True)
class TimeChange:
    """Microseconds per call; None if not timed."""

    name: str
    before: WorkloadReport | None
    after: WorkloadReport | None

    @property
    def factor(self) -> float | None:
        before, after = (side.time_us if side else None for side in (self.before, self.after))
        return before / after if before is not None and after is not None else None

    @property
    def tells(self) -> bool:
        """True if the intervals do not overlap."""
        if not self.before or not self.after or self.factor is None:
            return False
        (low, high), (low_now, high_now) = self.before.ci_us, self.after.ci_us
        return high < low_now or high_now < low


@dataclass(frozen=True)
class Difference:
    """``fixed`` and ``broken``: names of cases that both ran."""

    before: JudgedSide
    after: JudgedSide
    blocks: list[Block]
    fixed: list[str]
    broken: list[str]
    times: list[TimeChange]

    @property
    def added(self) -> int:
        return sum(block.after[1] - block.after[0] for block in self.blocks if not block.same)

    @property
    def removed(self) -> int:
        return sum(block.before[1] - block.before[0] for block in self.blocks if not block.same)


def difference(platform: Platform, user: User, submission: str, against: str) -> Difference:
    """From ``against`` to ``submission``. Raises NotFound, BadRequest (other challenge)."""
    after, before = (_side(platform, user, public_id) for public_id in (submission, against))
    if after.view.challenge != before.view.challenge:
        raise BadRequest(
            f"{before.view.id} is for '{before.view.challenge}', {after.view.id} for '{after.view.challenge}'.",
            "Compare submissions for one challenge.",
        )
    return Difference(
        before,
        after,
        blocks(before.source.source, after.source.source),
        *_changed_cases(before.report, after.report),
        _times(before.report, after.report),
    )


def earlier(platform: Platform, user: User, submission: str) -> list[SubmissionView]:
    """Newest first: the owner's; for staff on another's, everyone's. Raises NotFound."""
    view = submissions.get_submission(platform, user, submission)
    everyone = view.user != user.name
    return submissions.list_submissions(
        platform, user, view.challenge, everyone=everyone, limit=_EARLIER_MOST, older_than=view.id
    ).submissions


def blocks(before: str, after: str) -> list[Block]:
    """If sources are too long, everything between the common beginning and end counts as changed."""
    old, new = before.rstrip("\n").split("\n"), after.rstrip("\n").split("\n")
    head = _common(old, new)
    tail = _common(old[head:][::-1], new[head:][::-1])
    inner_old, inner_new = old[head : len(old) - tail], new[head : len(new) - tail]
    found: list[tuple[str, int, int, int, int]] = [("equal", 0, head, 0, head)] if head else []
    found += [
        (tag, a + head, b + head, c + head, d + head) for tag, a, b, c, d in _opcodes(inner_old, inner_new)
    ]
    if tail:
        found.append(("equal", len(old) - tail, len(old), len(new) - tail, len(new)))
    return [Block(tag == "equal", (a, b), (c, d)) for tag, a, b, c, d in found]


def _opcodes(old: Sequence[str], new: Sequence[str]) -> Sequence[tuple[str, int, int, int, int]]:
    if not old and not new:
        return []
    if max(len(old), len(new)) > limits.DIFF_LINES:
        return [("replace", 0, len(old), 0, len(new))]
    return Matcher(old, new).get_opcodes()


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    pairs = zip(one, other, strict=False)
    return next((place for place, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))


def _side(platform: Platform, user: User, submission: str) -> JudgedSide:
    view = submissions.get_submission(platform, user, submission)
    try:
        report = submissions.get_report(platform, user, submission)
    except Conflict:
        report = None
    return JudgedSide(view, submissions.get_source(platform, user, submission), report)


def _changed_cases(before: Report | None, after: Report | None) -> tuple[list[str], list[str]]:
    if before is None or after is None:
        return [], []
    was = {case.name: case.verdict is CaseVerdict.ACCEPTED for case in before.cases}
    changed = [
        (case.name, case.verdict is CaseVerdict.ACCEPTED)
        for case in after.cases
        if case.name in was and was[case.name] != (case.verdict is CaseVerdict.ACCEPTED)
    ]
    return [name for name, passes in changed if passes], [name for name, passes in changed if not passes]


def _times(before: Report | None, after: Report | None) -> list[TimeChange]:
    was, now = (
        {workload.name: workload for workload in report.workloads} if report else {}
        for report in (before, after)
    )
    return [TimeChange(name, was.get(name), now.get(name)) for name in dict.fromkeys([*now, *was])]
