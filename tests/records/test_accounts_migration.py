"""What accounts and tokens of before become."""

from __future__ import annotations

from datetime import timedelta

import pytest
from alembic import command
from alembic.config import Config
from sqlalchemy import Connection, text

from grader.records import schema
from grader.records.engine import make_engine, make_sessions, writing_connection
from grader.records.models import TokenRow, UserRow, utcnow
from grader.records.schema import alembic_config
from grader.schemas.token import Scope
from grader.service.accounts import tokens


def configured(connection: Connection) -> Config:
    config = alembic_config()
    config.attributes["connection"] = connection
    return config


@pytest.fixture
def before(empty_url: str) -> str:
    """A database of the previous version, with two people, a token and a session."""
    engine = make_engine(empty_url)
    with writing_connection(engine) as connection:
        command.upgrade(configured(connection), "0006")
        for number, name in ((1, "ada"), (2, "bob")):
            connection.execute(
                text(
                    "INSERT INTO users (id, name, name_key, password_hash, role, created_at)"
                    " VALUES (:id, :name, :name, '-', 'staff', :now)"
                ),
                {"id": number, "name": name, "now": utcnow()},
            )
        for label in ("laptop", "browser"):
            connection.execute(
                text(
                    "INSERT INTO tokens (user_id, sha256, label, created_at, expires_at)"
                    " VALUES (1, :label, :label, :now, :later)"
                ),
                {"label": label, "now": utcnow(), "later": utcnow() + timedelta(days=1)},
            )
    engine.dispose()
    return empty_url


def test_migrated_tokens_keep_their_scopes_and_sessions_are_recognised(before: str) -> None:
    engine = make_engine(before)
    schema.upgrade(engine)
    with make_sessions(engine)() as session:
        rows = {row.label: row for row in session.query(TokenRow)}
        assert {name: row.kind for name, row in rows.items()} == {"laptop": "api", "browser": "session"}
        # Exports and deletions had no scope then: such tokens must be requested again.
        could = [scope for scope in Scope if scope is not Scope.ACCOUNT]
        assert all(tokens.split(row.scopes) == could for row in rows.values())
        assert [row.email for row in session.query(UserRow)] == [None, None]
    engine.dispose()


def test_the_accounts_migration_can_be_reverted(before: str) -> None:
    engine = make_engine(before)
    with writing_connection(engine) as connection:
        command.upgrade(configured(connection), "0007")
        command.downgrade(configured(connection), "0006")
        assert connection.scalar(text("SELECT count(*) FROM tokens")) == 2
    engine.dispose()
