"""The language of grades: assignments may refuse some."""

import sqlalchemy as sa
from alembic import op

revision = "0030"
down_revision = "0029"
branch_labels = None
depends_on = None

_NAME = "ix_submissions_grades"
_JUDGED = sa.text("verdict IS NOT NULL AND kind <> 'run' AND competition_id IS NULL")
_BEFORE = [
    *("challenge", "user_id", "created_at", "id", "public_id", "verdict", "speedup", "device"),
    *("version", "rejudge_of", "kind", "competition_id", "set_aside"),
]


def upgrade() -> None:
    _make([*_BEFORE, "language"])


def _make(columns: list[str]) -> None:
    op.drop_index(_NAME, table_name="submissions")
    op.create_index(_NAME, "submissions", columns, sqlite_where=_JUDGED, postgresql_where=_JUDGED)


def downgrade() -> None:
    _make(_BEFORE)
