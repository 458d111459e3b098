"""Unknown times left the boards with 0012."""

from __future__ import annotations

from sqlalchemy import Engine, select

from grader.records import leases
from grader.records.engine import Sessions, writing, writing_connection
from grader.records.models import SubmissionRow, utcnow
from grader.records.schema import upgrade
from tests.records.rows import accepted, add_submission, add_user, downgrade, take


def test_the_migration_takes_unknown_times_off_the_board(engine: Engine, sessions: Sessions) -> None:
    user = add_user(sessions)
    measured = [(500.0, 490.0, 510.0), (500.0, 490.0, 700.0), (500.0, 300.0, 510.0), (0.1, 0.1, 0.1)]
    for time_us, low, high in measured:
        add_submission(sessions, user)
        held = take(sessions)
        assert held is not None
        with writing(sessions) as session:
            assert leases.finish(session, held, accepted(), utcnow())
            row = session.get_one(SubmissionRow, held.id)
            row.time_us, row.ci_lo_us, row.ci_hi_us, row.speedup = time_us, low, high, 2.0
    with writing_connection(engine) as connection:
        downgrade(connection, "0011")
    upgrade(engine)
    with sessions() as session:
        row = SubmissionRow
        found = session.execute(
            select(row.time_us, row.ci_lo_us, row.ci_hi_us, row.speedup).order_by(row.id)
        ).all()
    assert [tuple(row) for row in found] == [(500.0, 490.0, 510.0, 2.0), *[(None,) * 4] * 3]
