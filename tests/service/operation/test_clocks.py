"""Web and workers run on hosts with different clocks: the database's clock alone decides if a worker is
alive, if a submission is in time and when things are shown.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta

import pytest
from sqlalchemy import select

from grader.deadlines import WindowPhase
from grader.languages import Language
from grader.records import taught, workers
from grader.records.engine import clock, writing
from grader.records.models import AskedRow, StayRow, base
from grader.schemas.assignment import AssignmentBody, PartBody
from grader.schemas.course import CourseBody, RosterBody
from grader.service import devices
from grader.service.accounts.accounts import User
from grader.service.challenges import publication
from grader.service.courses import assignments, courses, gradebook, rosters
from grader.service.operation import figures, health, queues
from grader.service.platform import Platform
from grader.service.submissions import submissions, submit
from tests.service.competitions.builders import judge
from tests.service.courses.scenes import assign, enrol
from tests.service.world import body

pytestmark = pytest.mark.both_databases


@pytest.fixture
def ahead(monkeypatch: pytest.MonkeyPatch) -> None:
    """This process's clock is an hour ahead, wherever it is read by its old name."""

    def later() -> datetime:
        return base.utcnow() + timedelta(hours=1)

    ours = (assignments, gradebook, publication, submissions, submit)
    for module in (devices, figures, health, queues, *ours):
        if hasattr(module, "utcnow"):
            monkeypatch.setattr(module, "utcnow", later)


@pytest.mark.usefixtures("ahead")
@pytest.mark.parametrize(
    "served",
    [
        lambda host: "h200" in devices.served_devices(host),
        lambda host: "h200" in health.health(host).devices,
        lambda host: "h200" in {queue.name for queue in queues.list_queues(host).queues},
    ],
)
def test_a_worker_with_heartbeats_counts_as_alive(
    platform: Platform, served: Callable[[Platform], bool]
) -> None:
    with writing(platform.sessions) as session:
        workers.register(session, "w", "h200", [Language.CUDA], clock(session), "GPU-1")
    assert served(platform)


@pytest.mark.usefixtures("ahead")
def test_deadlines_and_publication_follow_the_databases_clock(
    platform: Platform, staff: User, student: User
) -> None:
    courses.create_course(platform, staff, CourseBody(slug="gpu", name="GPU"))
    enrol(platform, staff, student)
    # Computed now: collection may be more than half an hour ago.
    soon = base.utcnow() + timedelta(minutes=30)
    assign(platform, staff, due_at=soon.isoformat(), reveal_hidden=True)
    publication.schedule(platform, staff, "only_cuda", soon)
    assert assignments.get_assignment(platform, student, "gpu", "week1").phase is WindowPhase.OPEN
    sent = submit.submit(platform, student, body()).id
    judge(platform, sent, 10.0, 3.0)
    (part,) = gradebook.get_grades(platform, student, "gpu").assignments[0].parts
    assert (part.submission, part.late_days, part.attempts) == (sent, 0, 1)
    with platform.sessions() as session:
        assert not submissions.reads_hidden(session, student, submissions.find(session, student, sent))
    assert "only_cuda" not in publication.visible(platform, student)


@pytest.mark.usefixtures("ahead")
def test_assignment_and_membership_times_follow_the_databases_clock(
    platform: Platform, staff: User, student: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise the next submission has an earlier time, and never counts."""
    courses.create_course(platform, staff, CourseBody(slug="gpu", name="GPU"))
    text = f"account\n{student.name}\n"
    rosters.import_roster(platform, staff, "gpu", RosterBody(text=text, dry_run=False))
    week = AssignmentBody(
        title="Week", parts=[PartBody(challenge="scale")], open_at="2020-01-01", due_at="2999-01-01"
    )
    assignments.put_assignment(platform, staff, "gpu", "week", week)
    assignments.publish_assignment(platform, staff, "gpu", "week")
    behind = base.utcnow() - timedelta(minutes=5)
    monkeypatch.setattr(taught, "clock", lambda _: behind)
    courses.get_course(platform, student, "gpu")
    with platform.sessions() as session:
        assert session.scalars(select(AskedRow.asked_at)).one() <= clock(session)
        assert session.scalars(select(StayRow.accepted_at)).one() == behind
