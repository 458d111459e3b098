"""Entries taken off boards, and authors' notes."""

import sqlalchemy as sa
from alembic import op

revision = "0036"
down_revision = "0035"
branch_labels = None
depends_on = None

_RANKED = (
    "verdict = 'accepted' AND time_us IS NOT NULL AND ci_lo_us IS NOT NULL AND ci_hi_us IS NOT NULL "
    "AND competition_id IS NULL AND set_aside IS NULL"
)
_BOARD = [
    *("challenge", "version", "device", "user_id", "time_us", "created_at", "id"),
    *("ci_lo_us", "ci_hi_us", "language", "verdict", "competition_id", "set_aside"),
]


def upgrade() -> None:
    op.add_column("submissions", sa.Column("withdrawn_at", sa.DateTime(timezone=True), nullable=True))
    _make_board([*_BOARD, "withdrawn_at"], f"{_RANKED} AND withdrawn_at IS NULL")
    op.create_table(
        "notes",
        sa.Column("submission_id", sa.Integer(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["submission_id"],
            ["submissions.id"],
            name=op.f("fk_notes_submission_id_submissions"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("submission_id", name=op.f("pk_notes")),
    )


def _make_board(columns: list[str], condition: str) -> None:
    op.drop_index("ix_submissions_board", table_name="submissions")
    where = sa.text(condition)
    op.create_index(
        "ix_submissions_board", "submissions", columns, sqlite_where=where, postgresql_where=where
    )


def downgrade() -> None:
    op.drop_table("notes")
    _make_board(_BOARD, _RANKED)
    # In SQLite, rebuilding the table would delete all reports.
    with op.batch_alter_table("submissions", schema=None, recreate="never") as batch_op:
        batch_op.drop_column("withdrawn_at")
