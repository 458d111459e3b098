"""Answers to the exercises of chapters."""

import sqlalchemy as sa
from alembic import op

revision = "0044"
down_revision = "0043"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "exercise_answers",
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("chapter", sa.String(length=64), nullable=False),
        sa.Column("exercise", sa.String(length=40), nullable=False),
        sa.Column("given", sa.JSON(), nullable=False),
        sa.Column("is_right", sa.Boolean(), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_exercise_answers_user_id_users"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("user_id", "chapter", "exercise", name=op.f("pk_exercise_answers")),
    )


def downgrade() -> None:
    op.drop_table("exercise_answers")
