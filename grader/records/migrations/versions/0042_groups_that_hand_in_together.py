"""Groups that hand in together. Existing groups get codes; existing assignments take none."""

import secrets
from datetime import UTC, datetime

import sqlalchemy as sa
from alembic import op

revision = "0042"
down_revision = "0041"
branch_labels = None
depends_on = None

# As ``grader.service.accounts.keys.new_code``: without look-alikes, in halves.
_LETTERS = "BCDFGHJKLMNPQRSTVWXZ"


def upgrade() -> None:
    groups = op.create_table(
        "course_groups",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("course_id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=64), nullable=False),
        sa.Column("join_code", sa.String(length=16), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["course_id"], ["courses.id"], name=op.f("fk_course_groups_course_id_courses"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_course_groups")),
        sa.UniqueConstraint("course_id", "name", name=op.f("uq_course_groups_course_id_name")),
        sa.UniqueConstraint("join_code", name=op.f("uq_course_groups_join_code")),
    )
    op.create_table(
        "submission_partners",
        sa.Column("submission_id", sa.Integer(), nullable=False),
        sa.Column("assignment_id", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["submission_id"],
            ["submissions.id"],
            name=op.f("fk_submission_partners_submission_id_submissions"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["assignment_id"],
            ["assignments.id"],
            name=op.f("fk_submission_partners_assignment_id_assignments"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_submission_partners_user_id_users"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint(
            "submission_id", "assignment_id", "user_id", name=op.f("pk_submission_partners")
        ),
    )
    for column in ("assignment_id", "user_id"):
        op.create_index(op.f(f"ix_submission_partners_{column}"), "submission_partners", [column])
    op.add_column(
        "assignments", sa.Column("group_size", sa.Integer(), server_default=sa.text("1"), nullable=False)
    )
    op.add_column("assignments", sa.Column("groups_until", sa.DateTime(timezone=True), nullable=True))
    connection = op.get_bind()
    known = connection.execute(
        sa.text(
            "SELECT course_id, group_name FROM course_members WHERE group_name <> '' "
            "UNION SELECT course_id, group_name FROM course_invitations WHERE group_name <> ''"
        )
    ).all()
    now = datetime.now(UTC)
    if known:
        op.bulk_insert(
            groups,
            [
                {"course_id": course, "name": name, "join_code": _code(), "created_at": now}
                for course, name in known
            ],
        )


def _code() -> str:
    return "-".join("".join(secrets.choice(_LETTERS) for _ in range(4)) for _ in range(2))


def downgrade() -> None:
    with op.batch_alter_table("assignments", schema=None, recreate="never") as batch_op:
        batch_op.drop_column("groups_until")
        batch_op.drop_column("group_size")
    op.drop_table("submission_partners")
    op.drop_table("course_groups")
