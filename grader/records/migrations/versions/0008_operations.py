"""Requests of submissions, times of chores, counts of verdicts."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    # In SQLite, rebuilding the table would delete all reports.
    with op.batch_alter_table("submissions", schema=None, recreate="never") as batch_op:
        batch_op.add_column(sa.Column("request_id", sa.String(length=64), nullable=True))
    op.create_index(
        op.f("ix_submissions_challenge_language_device_verdict"),
        "submissions",
        ["challenge", "language", "device", "verdict"],
        unique=False,
    )
    op.create_table(
        "chores",
        sa.Column("name", sa.String(length=32), nullable=False),
        sa.Column("begun_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_chores")),
    )


def downgrade() -> None:
    op.drop_table("chores")
    op.drop_index(op.f("ix_submissions_challenge_language_device_verdict"), table_name="submissions")
    with op.batch_alter_table("submissions", schema=None, recreate="never") as batch_op:
        batch_op.drop_column("request_id")
