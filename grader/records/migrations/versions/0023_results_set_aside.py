"""Results that do not count: voided, or left out by a regrade."""

import sqlalchemy as sa
from alembic import op

revision = "0023"
down_revision = "0022"
branch_labels = None
depends_on = None

_RANKED = (
    "verdict = 'accepted' AND time_us IS NOT NULL AND ci_lo_us IS NOT NULL AND ci_hi_us IS NOT NULL "
    "AND competition_id IS NULL"
)
_JUDGED = "verdict IS NOT NULL AND kind <> 'run' AND competition_id IS NULL"
_GRADED = "kind <> 'run'"
# Name -> columns, condition before, condition now.
_INDEXES = {
    "ix_submissions_board": (
        [
            *("challenge", "version", "device", "user_id", "time_us", "created_at", "id"),
            *("ci_lo_us", "ci_hi_us", "language", "verdict", "competition_id"),
        ],
        _RANKED,
        f"{_RANKED} AND set_aside IS NULL",
    ),
    "ix_submissions_progress": (
        [
            *("user_id", "challenge", "version", "device", "state", "verdict", "speedup", "rejudge_of"),
            *("kind", "id"),
        ],
        _GRADED,
        _GRADED,
    ),
    "ix_submissions_grades": (
        [
            *("challenge", "user_id", "created_at", "id", "public_id", "verdict", "speedup", "device"),
            *("version", "rejudge_of", "kind", "competition_id"),
        ],
        _JUDGED,
        _JUDGED,
    ),
}


def upgrade() -> None:
    op.add_column("submissions", sa.Column("set_aside", sa.String(length=16), nullable=True))
    for name, (columns, _, condition) in _INDEXES.items():
        _make(name, [*columns, "set_aside"], condition)
    op.create_table(
        "voids",
        sa.Column("submission_id", sa.Integer(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("made_by", sa.Integer(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["submission_id"],
            ["submissions.id"],
            name=op.f("fk_voids_submission_id_submissions"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["made_by"], ["users.id"], name=op.f("fk_voids_made_by_users"), ondelete="SET NULL"
        ),
        sa.PrimaryKeyConstraint("submission_id", name=op.f("pk_voids")),
    )


def _make(name: str, columns: list[str], condition: str) -> None:
    op.drop_index(name, table_name="submissions")
    where = sa.text(condition)
    op.create_index(name, "submissions", columns, sqlite_where=where, postgresql_where=where)


def downgrade() -> None:
    op.drop_table("voids")
    # Judgements left out by a regrade would count.
    op.execute(
        "DELETE FROM reports WHERE submission_id IN (SELECT id FROM submissions WHERE set_aside = 'regrade')"
    )
    op.execute("DELETE FROM submissions WHERE set_aside = 'regrade'")
    for name, (columns, condition, _) in _INDEXES.items():
        _make(name, columns, condition)
    # In SQLite, rebuilding the table would delete all reports.
    with op.batch_alter_table("submissions", schema=None, recreate="never") as batch_op:
        batch_op.drop_column("set_aside")
