"""Challenges of courses. Existing ones are the platform's."""

import sqlalchemy as sa
from alembic import op

revision = "0040"
down_revision = "0039"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "challenge_owners",
        sa.Column("challenge", sa.String(length=64), nullable=False),
        sa.Column("course_id", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["course_id"], ["courses.id"], name=op.f("fk_challenge_owners_course_id_courses")
        ),
        sa.PrimaryKeyConstraint("challenge", name=op.f("pk_challenge_owners")),
    )
    op.create_index(op.f("ix_challenge_owners_course_id"), "challenge_owners", ["course_id"])


def downgrade() -> None:
    op.drop_table("challenge_owners")
