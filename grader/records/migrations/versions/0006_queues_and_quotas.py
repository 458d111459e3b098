"""Paused queues, kinds of submissions, and quotas."""

from datetime import UTC, datetime

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

# Practice now has the -10 of rejudges.
_REJUDGE = -20
_REJUDGE_BEFORE = -10
# Name -> columns, condition.
_RANKED = "verdict = 'accepted' AND time_us IS NOT NULL AND ci_lo_us IS NOT NULL AND ci_hi_us IS NOT NULL"
_HANDED_IN = "rejudge_of IS NULL"
_READING = {
    "ix_submissions_board": (
        [
            *("challenge", "version", "device", "user_id", "ci_hi_us", "time_us", "created_at", "id"),
            *("ci_lo_us", "language", "verdict"),
        ],
        _RANKED,
    ),
    "ix_submissions_history": (["user_id", "created_at", "id"], _HANDED_IN),
    "ix_submissions_history_of_challenge": (["user_id", "challenge", "created_at", "id"], _HANDED_IN),
    "ix_submissions_all_of_challenge": (["challenge", "created_at", "id"], _HANDED_IN),
    "ix_submissions_all": (["created_at", "id"], _HANDED_IN),
    "ix_submissions_again": (["rejudge_of"], "rejudge_of IS NOT NULL"),
    "ix_submissions_progress": (
        ["user_id", "challenge", "version", "device", "state", "verdict", "speedup", "rejudge_of", "id"],
        "",
    ),
    "ix_submissions_lately": (["claimed_at", "user_id", "state", "language", "rejudge_of"], ""),
    "ix_submissions_ended": (["device", "state", "finished_at"], ""),
}


def upgrade() -> None:
    op.create_table(
        "pauses",
        sa.Column("queue", sa.String(length=32), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("by", sa.String(length=64), nullable=False),
        sa.Column("since", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("queue", name=op.f("pk_pauses")),
    )
    op.create_table(
        "challenge_kinds",
        sa.Column("challenge", sa.String(length=64), nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.PrimaryKeyConstraint("challenge", name=op.f("pk_challenge_kinds")),
    )
    op.create_table(
        "quotas",
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("scope", sa.String(length=80), nullable=False),
        sa.Column("used", sa.Integer(), nullable=False),
        sa.Column("since", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint("used >= 0", name=op.f("ck_quotas_used_is_not_negative")),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_quotas_user_id_users"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("user_id", "scope", name=op.f("pk_quotas")),
    )
    # Alembic's batches would copy every row in SQLite.
    op.add_column("workers", sa.Column("drained_at", sa.DateTime(timezone=True), nullable=True))
    op.add_column("submissions", sa.Column("request_sha256", sa.String(length=64), nullable=True))
    op.add_column("submissions", sa.Column("source_sha256", sa.String(length=64), nullable=True))
    op.add_column(
        "submissions", sa.Column("kind", sa.String(length=16), server_default="course", nullable=False)
    )
    op.create_index(op.f("ix_submissions_user_id_source_sha256"), "submissions", ["user_id", "source_sha256"])
    unfinished = sa.text("finished_at IS NULL")
    op.create_index(
        "ix_submissions_unfinished",
        "submissions",
        ["user_id"],
        sqlite_where=unfinished,
        postgresql_where=unfinished,
    )
    _mark_rejudges()
    _count_what_waits()
    _index_what_is_read()


def _mark_rejudges() -> None:
    rows = sa.table(
        "submissions", sa.column("rejudge_of"), sa.column("kind"), sa.column("priority", sa.Integer())
    )
    again = rows.c.rejudge_of.is_not(None)
    op.execute(rows.update().where(again).values(kind="rejudge", priority=_REJUDGE))


def _count_what_waits() -> None:
    rows = sa.table("submissions", sa.column("user_id"), sa.column("finished_at"), sa.column("rejudge_of"))
    quotas = sa.table(
        "quotas",
        sa.column("user_id"),
        sa.column("scope", sa.String()),
        sa.column("used"),
        sa.column("since", sa.DateTime(timezone=True)),
    )
    since = sa.literal(datetime.now(UTC), sa.DateTime(timezone=True))
    waiting = (
        sa.select(rows.c.user_id, sa.literal("waiting", sa.String()), sa.func.count(), since)
        .where(rows.c.finished_at.is_(None), rows.c.rejudge_of.is_(None))
        .group_by(rows.c.user_id)
    )
    op.execute(quotas.insert().from_select(["user_id", "scope", "used", "since"], waiting))


def _index_what_is_read() -> None:
    for name, (columns, condition) in _READING.items():
        where = sa.text(condition) if condition else None
        op.create_index(name, "submissions", columns, sqlite_where=where, postgresql_where=where)
    op.drop_index("ix_submissions_user_id_created_at", "submissions")
    op.drop_index("ix_submissions_claimed_at", "submissions")
    op.drop_index("ix_submissions_rejudge_of", "submissions")


def downgrade() -> None:
    for name in _READING:
        op.drop_index(name, "submissions")
    op.create_index("ix_submissions_user_id_created_at", "submissions", ["user_id", "created_at"])
    op.create_index("ix_submissions_claimed_at", "submissions", ["claimed_at"])
    op.create_index("ix_submissions_rejudge_of", "submissions", ["rejudge_of"])
    rows = sa.table("submissions", sa.column("rejudge_of"), sa.column("priority", sa.Integer()))
    op.execute(rows.update().where(rows.c.rejudge_of.is_not(None)).values(priority=_REJUDGE_BEFORE))
    op.drop_index("ix_submissions_unfinished", "submissions")
    op.drop_index(op.f("ix_submissions_user_id_source_sha256"), "submissions")
    # In SQLite, rebuilding the table would delete all reports.
    with op.batch_alter_table("submissions", schema=None, recreate="never") as batch_op:
        for column in ("kind", "source_sha256", "request_sha256"):
            batch_op.drop_column(column)
    with op.batch_alter_table("workers", schema=None, recreate="never") as batch_op:
        batch_op.drop_column("drained_at")
    for table in ("quotas", "challenge_kinds", "pauses"):
        op.drop_table(table)
