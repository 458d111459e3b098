"""What the submissions that were run say of the suite."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from grader.authoring.findings import Check, Ending, Role, Status, Tried, check

_PASSING = (Ending.ACCEPTED, Ending.COMPILED, Ending.NOT_RUN)


def suite_checks(tried: Sequence[Tried], matrix: bool, cases: Sequence[str] = ()) -> list[Check]:
    """``solutions``, ``native``, ``mutants``, ``generic``; with ``matrix``, ``kills`` of all ``cases``, too."""
    checks = [
        _right(tried, Role.SOLUTION, "solutions"),
        _right(tried, Role.NATIVE, "native"),
        _killed(tried, Role.MUTANT, "mutants"),
        _killed(tried, Role.GENERIC, "generic"),
        _kills(tried, cases) if matrix else None,
    ]
    return [it for it in checks if it is not None]


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
    # An exception is no wrong answer: the suite is not known to tell the mistake.
    broken += [f"{it.name} raises an exception: {it.detail}" for it in found if it.raised]
    ran = [it for it in found if it.ending in (Ending.FAILED, Ending.ACCEPTED)]
    dead = sum(it.ending is Ending.FAILED for it in ran)
    remarks = [
        f"{it.name}: not applicable: {it.detail}" for it in found if it.ending is Ending.NOT_APPLICABLE
    ]
    remarks += [
        f"{it.name}: not run: {it.detail}" for it in found if it.ending in (Ending.COMPILED, Ending.NOT_RUN)
    ]
    first = [f"{it.name} ({it.failed[0]})" for it in found if it.failed]
    remarks += [f"killed by: {', '.join(first)}"] if first else []
    bad = Status.ERROR if broken else Status.WEAK
    return check(name, broken + survivors, f"{dead} of {len(ran)} killed", bad=bad, remarks=remarks)


def _kills(tried: Sequence[Tried], cases: Sequence[str]) -> Check | None:
    """How many wrong kernels each case kills, and which cases kill none. That fails nothing: some cases are there to
    show what is allowed."""
    wrong = [it for it in tried if it.role.wrong and it.ending is Ending.FAILED]
    if not wrong:
        return None
    kills = Counter(name for it in wrong for name in it.failed)
    idle = [name for name in cases if name not in kills]
    told = [f"{name} kills {count} of {len(wrong)}" for name, count in kills.most_common()]
    summary = f"{len(kills)} of {len(cases)} cases kill; nothing is killed by: {', '.join(idle) or 'none'}"
    return Check(name="kills", status=Status.OK, summary=summary, remarks=told)
