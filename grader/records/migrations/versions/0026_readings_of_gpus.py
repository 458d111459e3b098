"""States of workers' GPUs."""

import sqlalchemy as sa
from alembic import op

revision = "0026"
down_revision = "0025"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("workers", sa.Column("reading", sa.JSON(), nullable=True))


def downgrade() -> None:
    op.drop_column("workers", "reading")
