"""Partial credit for groups of cases. Existing assignments give none."""

import sqlalchemy as sa
from alembic import op

revision = "0039"
down_revision = "0038"
branch_labels = None
depends_on = None

_NAME = "ix_submissions_grades"
_JUDGED = sa.text("verdict IS NOT NULL AND kind <> 'run' AND competition_id IS NULL")
_BEFORE = [
    *("challenge", "user_id", "created_at", "id", "public_id", "verdict", "speedup", "device"),
    *("version", "rejudge_of", "kind", "competition_id", "set_aside", "language"),
]


def upgrade() -> None:
    op.add_column(
        "assignments", sa.Column("partial_credit", sa.Boolean(), server_default=sa.false(), nullable=False)
    )
    op.add_column("submissions", sa.Column("credit", sa.Double(), nullable=True))
    _make([*_BEFORE, "credit"])


def _make(columns: list[str]) -> None:
    op.drop_index(_NAME, table_name="submissions")
    op.create_index(_NAME, "submissions", columns, sqlite_where=_JUDGED, postgresql_where=_JUDGED)


def downgrade() -> None:
    _make(_BEFORE)
    with op.batch_alter_table("assignments", schema=None, recreate="never") as batch_op:
        batch_op.drop_column("partial_credit")
    with op.batch_alter_table("submissions", schema=None, recreate="never") as batch_op:
        batch_op.drop_column("credit")
