"""Members from before 0034 take part since their course was made, assignments have asked since they opened,
and groups from before 0042 have codes.
"""

from __future__ import annotations

from datetime import timedelta

from sqlalchemy import Engine, delete, select

from grader.records import taught
from grader.records.engine import Sessions, writing, writing_connection
from grader.records.models import (
    AssignmentPartRow,
    AssignmentRow,
    CourseGroupRow,
    CourseRow,
    MemberRow,
    StayRow,
    SubmissionRow,
    utcnow,
)
from grader.records.schema import upgrade
from tests.records.rows import add_submission, add_user, downgrade

DAY = timedelta(days=1)


def test_migrated_members_joined_when_the_course_was_created(engine: Engine, sessions: Sessions) -> None:
    now = utcnow()
    student, teacher = add_user(sessions), add_user(sessions, "teacher")
    before, after = (
        add_submission(sessions, student, age_s=days * DAY.total_seconds(), challenge="vector_add")
        for days in (5, 3)
    )
    with writing(sessions) as session:
        made = now - 4 * DAY
        session.add(CourseRow(slug="gpu", name="GPU", time_zone="UTC", visibility="members", created_at=made))
        session.flush()
        for user, role in ((student, "student"), (teacher, "owner")):
            joined = MemberRow(course_id=1, user_id=user, role=role, joined_at=now - 2 * DAY)
            joined.group_name = "red" if role == "student" else ""
            session.add(joined)
        week = AssignmentRow(course_id=1, slug="week1", title="Week", counts="best", published_at=now)
        week.open_at, week.due_at = now - 9 * DAY, now + DAY
        session.add(week)
        session.flush()
        session.add(AssignmentPartRow(assignment_id=week.id, challenge="vector_add", place=0))
    with writing_connection(engine) as connection:
        downgrade(connection, "0033")
    upgrade(engine)
    with sessions() as session:
        found = session.scalars(select(SubmissionRow.id).where(taught.belongs())).all()
        assert (before, list(found)) == (1, [after])
        stays = session.scalars(select(StayRow)).all()
        assert [(stay.accepted_at, stay.left_at) for stay in stays] == [(made, None)]
        group = session.scalars(select(CourseGroupRow)).one()
        assert (group.course_id, group.name, len(group.join_code)) == (1, "red", 9)
    with writing(sessions) as session:
        session.execute(delete(StayRow))
        assert session.scalars(select(SubmissionRow.id).where(taught.belongs())).all() == []
