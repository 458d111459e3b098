"""Unknown times leave the boards: earlier releases ranked times too short to measure.

The rule is ``grader.scoring.is_known`` at that time.
"""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None

_WITHIN = 0.2
_SHORTEST_US = 0.1


def upgrade() -> None:
    names = ("time_us", "ci_lo_us", "ci_hi_us", "speedup")
    rows = sa.table("submissions", *(sa.column(name) for name in names))
    time_us, low, high = rows.c.time_us, rows.c.ci_lo_us, rows.c.ci_hi_us
    unknown = sa.or_(
        time_us <= _SHORTEST_US * (1 + 1e-9),
        high - time_us > _WITHIN * time_us,
        time_us - low > _WITHIN * time_us,
    )
    op.execute(rows.update().where(unknown).values(dict.fromkeys(names)))


def downgrade() -> None:
    """Unknown times stay unknown."""
