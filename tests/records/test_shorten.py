from __future__ import annotations

from datetime import timedelta

from grader.records import leases
from grader.records.engine import Sessions, writing
from grader.records.models import utcnow
from tests.records.rows import add_submission, add_user, read, take


def test_only_longer_leases_are_shortened(sessions: Sessions) -> None:
    user = add_user(sessions)
    rows = [add_submission(sessions, user, age_s=-number) for number in range(3)]
    assert take(sessions, lease_s=5.0)
    assert take(sessions, lease_s=3600.0)
    longest = utcnow() + timedelta(seconds=20)
    before = {row: read(sessions, row).lease_until for row in rows}
    with writing(sessions) as session:
        assert leases.shorten(session, longest) == 1
    after = {row: read(sessions, row).lease_until for row in rows}
    assert [row for row in rows if before[row] != after[row]] == [
        row for row in rows if (before[row] or longest) > longest
    ]
    assert longest in after.values()
