"""Questions on accepted kernels, and points for them."""

import sqlalchemy as sa
from alembic import op

from grader.records.models.base import UtcDateTime

revision = "0037"
down_revision = "0036"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "quiz_questions",
        sa.Column("submission_id", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("given", sa.JSON(), nullable=False),
        sa.Column("used", sa.Integer(), nullable=False),
        sa.Column("is_right", sa.Boolean(), nullable=True),
        sa.Column("settled_at", UtcDateTime(), nullable=True),
        sa.ForeignKeyConstraint(["submission_id"], ["submissions.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("submission_id", "number"),
    )
    op.add_column(
        "assignments", sa.Column("question_points", sa.Double(), server_default=sa.text("0"), nullable=False)
    )


def downgrade() -> None:
    # In SQLite, rebuilding the table would delete its parts.
    with op.batch_alter_table("assignments", schema=None, recreate="never") as batch_op:
        batch_op.drop_column("question_points")
    op.drop_table("quiz_questions")
