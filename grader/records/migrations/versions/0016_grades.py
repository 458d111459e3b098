"""An index that grades are computed from."""

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None

_NAME = "ix_submissions_grades"
_JUDGED = sa.text("verdict IS NOT NULL AND kind <> 'run' AND competition_id IS NULL")
_COLUMNS = [
    *("challenge", "user_id", "created_at", "id", "public_id", "verdict", "speedup", "device"),
    *("version", "rejudge_of", "kind", "competition_id"),
]


def upgrade() -> None:
    op.create_index(_NAME, "submissions", _COLUMNS, sqlite_where=_JUDGED, postgresql_where=_JUDGED)


def downgrade() -> None:
    op.drop_index(_NAME, table_name="submissions")
