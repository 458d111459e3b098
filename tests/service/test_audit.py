"""Every change that the table of permissions allows staff is logged."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import grader.service
from grader.errors import NotAllowed
from grader.records import workers
from grader.records.engine import clock, writing
from grader.service import audit
from grader.service.accounts.accounts import User
from grader.service.audit import AuditFilter
from grader.service.courses.permissions import TABLE, Action, Standing
from grader.service.operation import operations, queues
from grader.service.platform import Platform
from grader.service.submissions.cancel import cancel
from tests.web import builders

# They only read, or change one's own.
UNLOGGED = {
    Action.COURSE_LISTED,
    Action.COURSE_READ,
    Action.ROSTER_READ,
    Action.ASSIGNMENT_READ,
    Action.ASSIGNMENT_READ_DRAFT,
    Action.GRADES_READ,
    Action.GRADES_READ_OWN,
    Action.SUBMISSIONS_READ,
    Action.SIMILARITY,
    Action.AUDIT_READ,
    Action.COMPETITION_READ,
    Action.COMPETITION_READ_DRAFT,
    Action.COMPETITION_ENTER,
    Action.CHALLENGE_READ_DRAFT,
    Action.CHALLENGE_UPLOADS,
    Action.BUDGETS_READ,
    Action.OPERATIONS_READ,
    Action.PLATFORM_AUDIT,
    Action.QUESTION_ASK,
    Action.QUESTION_READ,
    Action.LTI_SELECT,  # the choice goes to the learning platform; here it only reads
}
_SERVICES = sorted(Path(grader.service.__path__[0]).rglob("*.py"))


def noted() -> set[str]:
    """The actions that some use case passes to ``note``, directly or through a helper."""
    found = set()
    for path in _SERVICES:
        tree = ast.parse(path.read_text())
        if not any(_is_note(node) for node in ast.walk(tree)):
            continue
        for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
            given = [*call.args, *(keyword.value for keyword in call.keywords)]
            found |= {
                node.attr
                for node in given
                if isinstance(node, ast.Attribute) and _name(node.value) == "Action"
            }
    return found


def _is_note(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "note"


def _name(node: ast.AST) -> str:
    return node.id if isinstance(node, ast.Name) else ""


def test_each_changing_action_is_logged() -> None:
    others = "".join(path.read_text() for path in _SERVICES if path.name != "permissions.py")
    used = {action.name for action in TABLE if f"Action.{action.name}" in others}
    assert len(used) > len(TABLE) / 2, "the files of use cases are not where this looks"
    assert used - {action.name for action in UNLOGGED} - noted() == set()
    assert {action.name for action in UNLOGGED} <= {action.name for action in TABLE}


def test_actions_on_queues_and_workers_are_logged(platform: Platform, staff: User, student: User) -> None:
    with writing(platform.sessions) as session:
        workers.register(session, "w1", "cpu", [], clock(session), None, False)
    failed = builders.hand_in(platform, student, challenge="scale").id
    builders.fail(platform, builders.take(platform), "the engine is away")
    queues.pause_queue(platform, staff, "cpu", "new driver")
    queues.resume_queue(platform, staff, "cpu")
    queues.drain_worker(platform, staff, "w1")
    queues.resume_worker(platform, staff, "w1")
    seen = operations.overview(platform, staff)
    assert [(failure.submission, failure.error) for failure in seen.failures] == [
        (failed, "the engine is away")
    ]
    assert [worker.worker.name for worker in seen.workers] == ["w1"]
    assert sum(hour.failed for hour in seen.hours) == 1
    operations.retry(platform, staff, [failed])
    assert operations.overview(platform, staff).failures == []
    waiting = builders.hand_in(platform, student, challenge="scale").id
    for _ in range(2):
        cancel(platform, staff, waiting)
    cancel(platform, student, builders.hand_in(platform, student, challenge="scale").id)
    entries = audit.of_platform(platform, staff, AuditFilter()).entries
    assert [(entry.action, entry.subject) for entry in reversed(entries)] == [
        ("queue.pause", "/queues/cpu"),
        ("queue.resume", "/queues/cpu"),
        ("worker.drain", "/workers/w1"),
        ("worker.resume", "/workers/w1"),
        ("submission.requeue", f"/submissions/{failed}"),
        ("submission.cancel", f"/submissions/{waiting}/cancel"),
    ]
    of_workers = audit.of_platform(platform, staff, AuditFilter(actor=staff.name, action="worker.")).entries
    assert len(of_workers) == 2
    assert audit.of_platform(platform, staff, AuditFilter(subject="/queues/%")).entries == []
    for act in (operations.overview, lambda p, u: audit.of_platform(p, u, AuditFilter())):
        with pytest.raises(NotAllowed):
            act(platform, student)
    assert Standing.STAFF in TABLE[Action.PLATFORM_AUDIT]
