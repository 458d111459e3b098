"""What the submissions that were run say of the suite."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from grader.authoring.findings import Check, Ending, Role, Status, Tried, check

_PASSING = (Ending.ACCEPTED, Ending.COMPILED, Ending.NOT_RUN)


def suite_checks(tried: Sequence[Tried], matrix: bool) -> list[Check]:
    """``solutions``, ``native``, ``mutants``, ``generic``; with ``matrix``, ``idle_cases`` too."""
    checks = [
        _right(tried, Role.SOLUTION, "solutions"),
        _right(tried, Role.NATIVE, "native"),
        _killed(tried, Role.MUTANT, "mutants"),
        _killed(tried, Role.GENERIC, "generic"),
    ]
    return [it for it in [*checks, *_unique(tried, matrix)] if it is not None]


def _of(tried: Sequence[Tried], role: Role) -> list[Tried]:
    return [it for it in tried if it.role is role]


def _right(tried: Sequence[Tried], role: Role, name: str) -> Check | None:
    found = _of(tried, role)
    if not found:
        return None
    problems = [f"{it.name}: {it.ending.value}: {it.detail}" for it in found if it.ending not in _PASSING]
    good = "; ".join(f"{it.name}: {it.ending.value.replace('_', ' ')}" for it in found)
    remarks = [f"{it.name}: {it.detail}" for it in found if it.ending is Ending.NOT_RUN]
    return check(name, problems, good, bad=Status.ERROR, remarks=remarks)


def _killed(tried: Sequence[Tried], role: Role, name: str) -> Check | None:
    """Every wrong one fails: a survivor is the suite's weakness, one that does not load proves nothing."""
    found = _of(tried, role)
    if not found:
        return None
    survivors = [f"{it.name} survives all {it.ran} cases" for it in found if it.ending is Ending.ACCEPTED]
    broken = [f"{it.name} does not load: {it.detail}" for it in found if it.ending is Ending.BROKEN]
    ran = [it for it in found if it.ending in (Ending.FAILED, Ending.ACCEPTED)]
    dead = sum(it.ending is Ending.FAILED for it in ran)
    remarks = [
        f"{it.name}: not applicable: {it.detail}" for it in found if it.ending is Ending.NOT_APPLICABLE
    ]
    remarks += [
        f"{it.name}: not run: {it.detail}" for it in found if it.ending in (Ending.COMPILED, Ending.NOT_RUN)
    ]
    bad = Status.ERROR if broken else Status.WEAK
    return check(name, broken + survivors, f"{dead} of {len(ran)} killed", bad=bad, remarks=remarks)


def _unique(tried: Sequence[Tried], matrix: bool) -> list[Check]:
    """With a whole matrix: how many wrong kernels each case kills, and which kill none. That is no fault: some cases
    are there to show what is allowed."""
    wrong = [it for it in tried if it.role.wrong and it.ending is Ending.FAILED]
    if not matrix or not wrong:
        return []
    kills = Counter(name for it in wrong for name in it.failed)
    return [Check(name="kills", status=Status.OK, summary=f"{len(kills)} cases kill", details=_table(kills))]


def _table(kills: Counter[str]) -> list[str]:
    return [f"{name}: {count}" for name, count in kills.most_common()]
