"""Grade policies: categories, scales and curves. Existing courses have none."""

import sqlalchemy as sa
from alembic import op

revision = "0043"
down_revision = "0042"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("courses", sa.Column("policy", sa.Text(), server_default="", nullable=False))
    op.add_column(
        "assignments", sa.Column("category", sa.String(length=64), server_default="", nullable=False)
    )
    op.add_column("assignments", sa.Column("out_of", sa.Double(), nullable=True))
    op.create_table(
        "grade_curves",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("course_id", sa.Integer(), nullable=False),
        sa.Column("assignment_id", sa.Integer(), nullable=True),
        sa.Column("formula", sa.String(length=200), nullable=False),
        sa.Column("mean", sa.Double(), nullable=False),
        sa.Column("highest", sa.Double(), nullable=False),
        sa.Column("made_by", sa.Integer(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["course_id"], ["courses.id"], name=op.f("fk_grade_curves_course_id_courses"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["assignment_id"],
            ["assignments.id"],
            name=op.f("fk_grade_curves_assignment_id_assignments"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["made_by"], ["users.id"], name=op.f("fk_grade_curves_made_by_users"), ondelete="SET NULL"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_grade_curves")),
        sa.UniqueConstraint("assignment_id", name=op.f("uq_grade_curves_assignment_id")),
    )
    op.create_index(op.f("ix_grade_curves_course_id"), "grade_curves", ["course_id"])


def downgrade() -> None:
    op.drop_table("grade_curves")
    with op.batch_alter_table("assignments", schema=None, recreate="never") as batch_op:
        batch_op.drop_column("out_of")
        batch_op.drop_column("category")
    with op.batch_alter_table("courses", schema=None, recreate="never") as batch_op:
        batch_op.drop_column("policy")
