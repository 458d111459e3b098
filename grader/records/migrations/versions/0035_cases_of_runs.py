"""Runs of one public case with the author's sizes and inputs."""

import sqlalchemy as sa
from alembic import op

revision = "0035"
down_revision = "0034"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("submissions", sa.Column("own_case", sa.Text(), nullable=True))


def downgrade() -> None:
    # In SQLite, rebuilding the table would delete all reports.
    with op.batch_alter_table("submissions", schema=None, recreate="never") as batch_op:
        batch_op.drop_column("own_case")
