"""Runs came with 0010: an earlier release knows no such kind."""

from __future__ import annotations

from sqlalchemy import Engine, text

from grader.records import leases
from grader.records.engine import Sessions, writing, writing_connection
from grader.records.models import utcnow
from grader.records.schema import upgrade
from grader.schemas.submission import JudgingReason
from tests.records.rows import accepted, add_submission, add_user, downgrade, take


def test_reverting_the_runs_migration_keeps_submissions_and_removes_runs(
    engine: Engine, sessions: Sessions
) -> None:
    user = add_user(sessions)
    for kind in (JudgingReason.COURSE, JudgingReason.RUN):
        add_submission(sessions, user, kind=kind)
        held = take(sessions)
        assert held is not None
        with writing(sessions) as session:
            assert leases.finish(session, held, accepted(), utcnow())
    with writing_connection(engine) as connection:
        downgrade(connection, "0009")
        assert connection.scalar(text("SELECT count(*) FROM submissions WHERE kind = 'course'")) == 1
        assert connection.scalar(text("SELECT count(*) FROM submissions")) == 1
        assert connection.scalar(text("SELECT count(*) FROM reports")) == 1
    upgrade(engine)
    add_submission(sessions, user, kind=JudgingReason.RUN)
    held = take(sessions)
    assert held is not None
    assert held.run
