"""The time zone of a competition."""

import sqlalchemy as sa
from alembic import op

revision = "0029"
down_revision = "0028"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column(
        "competitions", sa.Column("time_zone", sa.String(length=64), server_default="UTC", nullable=False)
    )


def downgrade() -> None:
    op.drop_column("competitions", "time_zone")
