"""Versions of a challenge and judgements of one submission under several of them, on every database."""

from __future__ import annotations

from datetime import timedelta

import pytest
from alembic import command
from sqlalchemy import Engine, text
from sqlalchemy.exc import IntegrityError

from grader.records import order, ranks, rejudges, versions
from grader.records.engine import Sessions, make_engine, writing, writing_connection
from grader.records.models import SubmissionRow, VersionRow, utcnow
from grader.records.schema import alembic_config
from grader.schemas.report import Verdict
from grader.schemas.submission import State
from tests.records.rows import DEVICE, add_submission, add_user, read, take

SLUG = "vector_add"


def add_version(sessions: Sessions, version: int, published_s: float | None = None) -> None:
    """``published_s``: seconds ago."""
    with writing(sessions) as session:
        moment = None if published_s is None else utcnow() - timedelta(seconds=published_s)
        session.add(
            VersionRow(
                challenge=SLUG, version=version, fingerprint="-", content='{"args": 1}', published_at=moment
            )
        )


def add_done(sessions: Sessions, user: int, time_us: float, version: int = 1, **values: object) -> int:
    given: dict[str, object] = {
        "state": State.DONE,
        "verdict": Verdict.ACCEPTED,
        "time_us": time_us,
        "ci_lo_us": time_us,
        "ci_hi_us": time_us,
    }
    return add_submission(sessions, user, version=version, **(given | values))


def again(sessions: Sessions, version: int = 2) -> list[int]:
    """Order rejudges of everything under ``version``; returns the ids of the new rows."""
    with writing(sessions) as session:
        rows = [rejudges.again(first, version) for first in rejudges.first_judgements(session, SLUG, version)]
        session.add_all(rows)
        session.flush()
        return [row.id for row in rows]


def end(sessions: Sessions, row: int, **values: object) -> None:
    with writing(sessions) as session:
        found = session.get_one(SubmissionRow, row)
        for name, value in values.items():
            setattr(found, name, value)


def test_the_last_published_version_is_shown(sessions: Sessions) -> None:
    with sessions() as session:
        assert versions.shown(session, SLUG) is None
    add_version(sessions, 1, published_s=10)
    add_version(sessions, 2)
    with sessions() as session:
        assert versions.shown(session, SLUG) == 1
        assert [row.version for row in versions.drafts(session)] == [2]
    with writing(sessions) as session:
        versions.publish(session, SLUG, 2, utcnow())
    with sessions() as session:
        assert versions.shown_versions(session) == {SLUG: 2}
        assert versions.drafts(session) == []
    with writing(sessions) as session:
        versions.publish(session, SLUG, 1, utcnow() + timedelta(seconds=1))
    with sessions() as session:
        assert versions.shown(session, SLUG) == 1, "back again"


def test_a_version_is_judged_once_something_has_a_verdict(sessions: Sessions) -> None:
    row = add_submission(sessions, add_user(sessions))
    for state in (State.QUEUED, State.TESTING, State.FAILED):
        end(sessions, row, state=state, verdict=Verdict.INTERNAL_ERROR if state is State.FAILED else None)
        with sessions() as session:
            assert not versions.judged(session, SLUG, 1)
    end(sessions, row, state=State.DONE, verdict=Verdict.WRONG_ANSWER)
    with sessions() as session:
        assert versions.judged(session, SLUG, 1)
        assert not versions.judged(session, SLUG, 2)


def test_a_rejudge_keeps_the_first_judgement(sessions: Sessions) -> None:
    user = add_user(sessions)
    first = add_done(sessions, user, 10.0, age_s=60)
    (second,) = again(sessions)
    end(sessions, second, state=State.DONE, verdict=Verdict.WRONG_ANSWER)
    old, new = read(sessions, first), read(sessions, second)
    assert (old.version, old.verdict, old.time_us) == (1, Verdict.ACCEPTED, 10.0)
    assert (new.version, new.verdict, new.rejudge_of) == (2, Verdict.WRONG_ANSWER, first)
    assert (new.source, new.user_id, new.created_at) == (old.source, old.user_id, old.created_at)
    assert new.idempotency_key is None


def test_only_failed_rejudges_are_ordered_again(sessions: Sessions) -> None:
    user = add_user(sessions)
    add_done(sessions, user, 10.0)
    add_submission(sessions, user, state=State.DONE, verdict=Verdict.WRONG_ANSWER)
    add_submission(sessions, user, state=State.CANCELLED)
    add_submission(sessions, user, state=State.FAILED, verdict=Verdict.INTERNAL_ERROR)
    add_submission(sessions, user)
    first, second = again(sessions)
    assert again(sessions) == []
    end(sessions, first, state=State.FAILED, verdict=Verdict.INTERNAL_ERROR)
    assert len(again(sessions)) == 1
    with sessions() as session:
        assert rejudges.unfinished(session, SLUG, 2) == 2
        later = {row.rejudge_of for row in rejudges.under(session, SLUG, 2).values()}
        assert len(later) == 2
        assert all(row.state is State.QUEUED for row in rejudges.under(session, SLUG, 2).values())
    end(sessions, second, state=State.DONE, verdict=Verdict.ACCEPTED)
    assert len(again(sessions, version=3)) == 2, "a third version judges what was handed in, not judgements"


def test_each_version_has_its_board_from_one_query(sessions: Sessions) -> None:
    ada, bob = add_user(sessions, "ada"), add_user(sessions, "bob")
    add_done(sessions, ada, 10.0, age_s=9)
    add_done(sessions, bob, 20.0, age_s=8)
    slower, faster = again(sessions)
    for row, time_us in ((slower, 30.0), (faster, 15.0)):
        end(
            sessions,
            row,
            state=State.DONE,
            verdict=Verdict.ACCEPTED,
            time_us=time_us,
            ci_lo_us=time_us,
            ci_hi_us=time_us,
        )
    with sessions() as session:
        found = [
            [
                (entry.user, entry.rank, entry.time_us)
                for entry in ranks.ranked(session, SLUG, version, DEVICE)
            ]
            for version in (1, 2)
        ]
    assert found == [[("ada", 1, 10.0), ("bob", 2, 20.0)], [("bob", 1, 15.0), ("ada", 2, 30.0)]]


def test_students_go_before_rejudges(sessions: Sessions) -> None:
    ada, bob = add_user(sessions, "ada"), add_user(sessions, "bob")
    for number in range(3):
        add_done(sessions, ada, 10.0 + number, age_s=100 - number)
    ordered = again(sessions)
    mine = add_submission(sessions, bob)
    served = [held.id for held in (take(sessions) for _ in range(4)) if held]
    assert served == [mine, *ordered]


def test_a_claim_marks_a_rejudge(sessions: Sessions) -> None:
    add_done(sessions, add_user(sessions), 10.0)
    again(sessions)
    held = take(sessions)
    assert held is not None
    assert (held.rejudge, held.version) == (True, 2)


def test_rejudges_do_not_count_as_an_authors_turn(sessions: Sessions) -> None:
    ada, bob = add_user(sessions, "ada"), add_user(sessions, "bob")
    done = {"state": State.DONE, "verdict": Verdict.ACCEPTED, "claimed_at": utcnow()}
    first = add_done(sessions, ada, 10.0)
    add_done(sessions, ada, 10.0, version=2, rejudge_of=first, claimed_at=utcnow())
    add_submission(sessions, bob, **(done | {"claimed_at": utcnow() - timedelta(hours=2)}))
    older, younger = add_submission(sessions, ada, 50), add_submission(sessions, bob, 5)
    with sessions() as session:
        assert order.positions(session, DEVICE, utcnow()) == {older: 1, younger: 2}


def test_judgements_under_later_versions_count_once_published(sessions: Sessions) -> None:
    first = add_done(sessions, add_user(sessions), 10.0)
    add_version(sessions, 1, published_s=5)
    add_version(sessions, 2)
    (second,) = again(sessions)
    end(sessions, second, state=State.DONE, verdict=Verdict.ACCEPTED)
    with sessions() as session:
        assert rejudges.judged_again(session, [first], drafts=False) == {}
        assert [row.id for row in rejudges.judged_again(session, [first], drafts=True)[first]] == [second]
    with writing(sessions) as session:
        versions.publish(session, SLUG, 2, utcnow())
    with sessions() as session:
        assert [row.id for row in rejudges.judged_again(session, [first], drafts=False)[first]] == [second]


def _to(engine: Engine, revision: str, way: str = "upgrade") -> None:
    config = alembic_config()
    with writing_connection(engine) as connection:
        config.attributes["connection"] = connection
        getattr(command, way)(config, revision)


def test_an_old_database_keeps_reports_and_boards(empty_url: str) -> None:
    engine = make_engine(empty_url)
    _to(engine, "0002")
    with writing_connection(engine) as connection:
        connection.execute(
            text(
                "INSERT INTO users (name, name_key, password_hash, role, created_at)"
                " VALUES ('a', 'a', '-', 'student', '2025-01-01 00:00:00')"
            )
        )
        for version, public in ((1, "aaaaaaaaaa"), (2, "bbbbbbbbbb")):
            connection.execute(
                text(
                    "INSERT INTO submissions (public_id, user_id, challenge, version, language, device, source,"
                    " filename, priority, state, attempt, failures, progress, cancel_requested, created_at, verdict,"
                    " error) VALUES (:public, 1, 'vector_add', :version, 'triton', 'cpu', 'x', 'x.py', 0, 'done', 1,"
                    " 0, '{}', FALSE, :moment, 'accepted', '')"
                ),
                {"public": public, "version": version, "moment": f"2025-01-0{version} 00:00:00"},
            )
        connection.execute(
            text(
                "INSERT INTO reports (submission_id, attempt, body, created_at)"
                " VALUES (1, 1, '{}', '2025-01-01 00:00:00')"
            )
        )
    _to(engine, "0003")
    with engine.connect() as connection:
        assert connection.scalar(text("SELECT count(*) FROM reports")) == 1
        assert connection.execute(text("SELECT id, rejudge_of FROM submissions ORDER BY id")).all() == [
            (1, None),
            (2, None),
        ]
        shown = text("SELECT version FROM challenge_versions ORDER BY published_at DESC LIMIT 1")
        assert connection.scalar(shown) == 2
    _to(engine, "0002", "downgrade")
    with engine.connect() as connection:
        assert connection.scalar(text("SELECT count(*) FROM reports")) == 1
    engine.dispose()


def test_a_rejudge_needs_an_existing_submission(sessions: Sessions) -> None:
    user = add_user(sessions)
    with pytest.raises(IntegrityError):
        add_submission(sessions, user, rejudge_of=4711)
