"""Boards in the order of times, not of their intervals' upper ends."""

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None

_NAME = "ix_submissions_board"
_RANKED = sa.text(
    "verdict = 'accepted' AND time_us IS NOT NULL AND ci_lo_us IS NOT NULL AND ci_hi_us IS NOT NULL"
)
_FIRST = ["challenge", "version", "device", "user_id"]
_LAST = ["language", "verdict"]


def upgrade() -> None:
    _make([*_FIRST, "time_us", "created_at", "id", "ci_lo_us", "ci_hi_us", *_LAST])


def downgrade() -> None:
    _make([*_FIRST, "ci_hi_us", "time_us", "created_at", "id", "ci_lo_us", *_LAST])


def _make(columns: list[str]) -> None:
    op.drop_index(_NAME, table_name="submissions")
    op.create_index(_NAME, "submissions", columns, sqlite_where=_RANKED, postgresql_where=_RANKED)
