"""What 0033 makes of accounts that earlier releases deleted, and of grades that they sent."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Engine, select

from grader.records.engine import Sessions, writing, writing_connection
from grader.records.models import (
    AssignmentRow,
    CourseRow,
    IdentityRow,
    LtiContextRow,
    LtiLinkRow,
    LtiPlatformRow,
    LtiScoreRow,
    MemberRow,
    UserRow,
)
from grader.records.schema import upgrade
from tests.records.rows import downgrade

LEFT = datetime(2026, 3, 1, tzinfo=UTC)


def test_the_migration_recognises_deleted_accounts_and_sent_grades(
    engine: Engine, sessions: Sessions
) -> None:
    def added(session: Any, row: Any) -> int:
        session.add(row)
        session.flush()
        return int(row.id)

    with writing(sessions) as session:
        names = {"deleted-user-0a1b2c3d": "!", "deleted-user-1": "argon", "ada": "argon"}
        users = {
            name: added(session, UserRow(name=name, name_key=name, password_hash=password, role="student"))
            for name, password in names.items()
        }
        course = CourseRow(slug="gpu", name="GPU", time_zone="UTC", visibility="members")
        gpu = added(session, course)
        session.add(
            MemberRow(course_id=gpu, user_id=users["deleted-user-0a1b2c3d"], role="student", left_at=LEFT)
        )
        week1 = AssignmentRow(course_id=gpu, slug="w", title="W", open_at=LEFT, counts="best")
        week1.due_at = LEFT.replace(month=4)
        added(session, week1)
        urls = dict.fromkeys(("auth_url", "token_url", "jwks_url"), "https://lms.example")
        lms = added(
            session,
            LtiPlatformRow(
                name="LMS", issuer="https://lms.example", client_id="7", accounts="anyone", **urls
            ),
        )
        context = added(
            session,
            LtiContextRow(platform_id=lms, deployment="1", context="c", course_id=gpu, teachers="nobody"),
        )
        link = added(session, LtiLinkRow(context_id=context, resource="r", assignment_id=week1.id))
        score = LtiScoreRow(link_id=link, user_id=users["ada"], points=1, most=1, state="sent", sent_at=LEFT)
        session.add(score)
        authority = "https://lms.example 7"
        identity = {"label": "LMS", "came_by": "account", "user_id": users["ada"]}
        session.add(IdentityRow(authority=authority, subject="1815", **identity))
    with writing_connection(engine) as connection:
        downgrade(connection, "0032")
    upgrade(engine)
    with sessions() as session:
        assert dict(session.execute(select(UserRow.name, UserRow.deleted_at)).all()) == {
            "deleted-user-0a1b2c3d": LEFT,
            "deleted-user-1": None,
            "ada": None,
        }
        digest = hashlib.sha256(f"{authority}\n1815".encode()).hexdigest()
        assert session.scalars(select(LtiScoreRow.subject_sha256)).all() == [digest]
