"""Periods from which a course may read submissions, and results that it voided.

Present members count as having accepted when the course was made, and assignments ask since they opened, so
nobody's points change.
"""

import sqlalchemy as sa
from alembic import op

revision = "0034"
down_revision = "0033"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "course_stays",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("member_id", sa.Integer(), nullable=False),
        sa.Column("accepted_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("left_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["member_id"],
            ["course_members.id"],
            name=op.f("fk_course_stays_member_id_course_members"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_course_stays")),
    )
    op.create_index(op.f("ix_course_stays_member_id"), "course_stays", ["member_id"])
    op.create_table(
        "assignment_asked",
        sa.Column("assignment_id", sa.Integer(), nullable=False),
        sa.Column("challenge", sa.String(length=64), nullable=False),
        sa.Column("asked_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["assignment_id"],
            ["assignments.id"],
            name=op.f("fk_assignment_asked_assignment_id_assignments"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("assignment_id", "challenge", name=op.f("pk_assignment_asked")),
    )
    op.create_table(
        "course_voids",
        sa.Column("course_id", sa.Integer(), nullable=False),
        sa.Column("submission_id", sa.Integer(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("made_by", sa.Integer(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["course_id"], ["courses.id"], name=op.f("fk_course_voids_course_id_courses"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["submission_id"],
            ["submissions.id"],
            name=op.f("fk_course_voids_submission_id_submissions"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["made_by"], ["users.id"], name=op.f("fk_course_voids_made_by_users"), ondelete="SET NULL"
        ),
        sa.PrimaryKeyConstraint("course_id", "submission_id", name=op.f("pk_course_voids")),
    )
    op.create_index(op.f("ix_course_voids_submission_id"), "course_voids", ["submission_id"])
    op.execute(
        "INSERT INTO course_stays (member_id, accepted_at) "
        "SELECT course_members.id, courses.created_at FROM course_members "
        "JOIN courses ON courses.id = course_members.course_id WHERE course_members.role = 'student'"
    )
    op.execute(
        "INSERT INTO assignment_asked (assignment_id, challenge, asked_at) "
        "SELECT assignments.id, assignment_parts.challenge, assignments.open_at FROM assignments "
        "JOIN assignment_parts ON assignment_parts.assignment_id = assignments.id "
        "WHERE assignments.published_at IS NOT NULL"
    )


def downgrade() -> None:
    op.drop_table("course_voids")
    op.drop_table("assignment_asked")
    op.drop_table("course_stays")
