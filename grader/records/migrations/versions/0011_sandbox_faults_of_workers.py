"""Sandbox faults of workers."""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    with op.batch_alter_table("workers", schema=None, recreate="never") as batch_op:
        batch_op.add_column(sa.Column("sandbox_fault", sa.Text(), nullable=False, server_default=""))


def downgrade() -> None:
    with op.batch_alter_table("workers", schema=None, recreate="never") as batch_op:
        batch_op.drop_column("sandbox_fault")
