"""Courses, members, assignments, and a log of staff's actions."""

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("users", sa.Column("came_by", sa.String(length=120), server_default="", nullable=False))
    op.add_column("users", sa.Column("teaches", sa.Boolean(), server_default=sa.false(), nullable=False))
    _make_courses()
    _make_assignments()
    _make_audit_log()
    _make_invitations()
    _make_join_codes()
    _make_members()
    _make_parts()
    _make_extensions()
    _make_overrides()


def _make_courses() -> None:
    op.create_table(
        "courses",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("slug", sa.String(length=64), nullable=False),
        sa.Column("name", sa.String(length=120), nullable=False),
        sa.Column("term", sa.String(length=64), server_default="", nullable=False),
        sa.Column("time_zone", sa.String(length=64), nullable=False),
        sa.Column("visibility", sa.String(length=16), nullable=False),
        sa.Column("grace_days", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("revision", sa.Integer(), server_default=sa.text("1"), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("archived_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_courses")),
        sa.UniqueConstraint("slug", name=op.f("uq_courses_slug")),
    )


def _make_assignments() -> None:
    op.create_table(
        "assignments",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("course_id", sa.Integer(), nullable=False),
        sa.Column("slug", sa.String(length=64), nullable=False),
        sa.Column("title", sa.String(length=120), nullable=False),
        sa.Column("open_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("due_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("late_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("late_percent", sa.Double(), server_default=sa.text("0"), nullable=False),
        sa.Column("grace_days", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("attempts_day", sa.Integer(), nullable=True),
        sa.Column("attempts_total", sa.Integer(), nullable=True),
        sa.Column("attempts_pending", sa.Integer(), nullable=True),
        sa.Column("languages", sa.JSON(), nullable=False),
        sa.Column("devices", sa.JSON(), nullable=False),
        sa.Column("counts", sa.String(length=16), nullable=False),
        sa.Column("reveal_hidden", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("published_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("revision", sa.Integer(), server_default=sa.text("1"), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint(
            "late_until IS NULL OR late_until >= due_at", name=op.f("ck_assignments_late_after_due")
        ),
        sa.CheckConstraint("open_at < due_at", name=op.f("ck_assignments_opens_before_due")),
        sa.ForeignKeyConstraint(
            ["course_id"], ["courses.id"], name=op.f("fk_assignments_course_id_courses"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_assignments")),
        sa.UniqueConstraint("course_id", "slug", name=op.f("uq_assignments_course_id_slug")),
    )


def _make_audit_log() -> None:
    op.create_table(
        "audit_log",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("actor_id", sa.Integer(), nullable=True),
        sa.Column("actor", sa.String(length=64), nullable=False),
        sa.Column("action", sa.String(length=48), nullable=False),
        sa.Column("course_id", sa.Integer(), nullable=True),
        sa.Column("subject", sa.String(length=200), nullable=False),
        sa.Column("before", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("after", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("reason", sa.Text(), server_default="", nullable=False),
        sa.ForeignKeyConstraint(
            ["actor_id"], ["users.id"], name=op.f("fk_audit_log_actor_id_users"), ondelete="SET NULL"
        ),
        sa.ForeignKeyConstraint(
            ["course_id"], ["courses.id"], name=op.f("fk_audit_log_course_id_courses"), ondelete="SET NULL"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_audit_log")),
    )
    op.create_index(op.f("ix_audit_log_course_id_id"), "audit_log", ["course_id", "id"], unique=False)
    op.create_index(op.f("ix_audit_log_subject_id"), "audit_log", ["subject", "id"], unique=False)


def _make_invitations() -> None:
    op.create_table(
        "course_invitations",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("course_id", sa.Integer(), nullable=False),
        sa.Column("person", sa.String(length=254), nullable=False),
        sa.Column("email", sa.String(length=254), server_default="", nullable=False),
        sa.Column("role", sa.String(length=16), nullable=False),
        sa.Column("section", sa.String(length=64), server_default="", nullable=False),
        sa.Column("group_name", sa.String(length=64), server_default="", nullable=False),
        sa.Column("full_name", sa.String(length=120), server_default="", nullable=False),
        sa.Column("student_number", sa.String(length=64), server_default="", nullable=False),
        sa.Column("sha256", sa.String(length=64), nullable=True),
        sa.Column("made_by", sa.Integer(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("issued_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("accepted_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("user_id", sa.Integer(), nullable=True),
        sa.ForeignKeyConstraint(
            ["course_id"],
            ["courses.id"],
            name=op.f("fk_course_invitations_course_id_courses"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["made_by"], ["users.id"], name=op.f("fk_course_invitations_made_by_users"), ondelete="SET NULL"
        ),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_course_invitations_user_id_users"), ondelete="SET NULL"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_course_invitations")),
        sa.UniqueConstraint("course_id", "person", name=op.f("uq_course_invitations_course_id_person")),
        sa.UniqueConstraint("sha256", name=op.f("uq_course_invitations_sha256")),
    )
    op.create_index(op.f("ix_course_invitations_user_id"), "course_invitations", ["user_id"], unique=False)


def _make_join_codes() -> None:
    op.create_table(
        "course_join_codes",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("course_id", sa.Integer(), nullable=False),
        sa.Column("code", sa.String(length=16), nullable=False),
        sa.Column("section", sa.String(length=64), server_default="", nullable=False),
        sa.Column("uses", sa.Integer(), nullable=True),
        sa.Column("used", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("made_by", sa.Integer(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["course_id"],
            ["courses.id"],
            name=op.f("fk_course_join_codes_course_id_courses"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["made_by"], ["users.id"], name=op.f("fk_course_join_codes_made_by_users"), ondelete="SET NULL"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_course_join_codes")),
        sa.UniqueConstraint("code", name=op.f("uq_course_join_codes_code")),
    )
    op.create_index(op.f("ix_course_join_codes_course_id"), "course_join_codes", ["course_id"], unique=False)


def _make_members() -> None:
    op.create_table(
        "course_members",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("course_id", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("role", sa.String(length=16), nullable=False),
        sa.Column("section", sa.String(length=64), server_default="", nullable=False),
        sa.Column("group_name", sa.String(length=64), server_default="", nullable=False),
        sa.Column("full_name", sa.String(length=120), server_default="", nullable=False),
        sa.Column("student_number", sa.String(length=64), server_default="", nullable=False),
        sa.Column("came_by", sa.String(length=120), server_default="", nullable=False),
        sa.Column("joined_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("left_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["course_id"],
            ["courses.id"],
            name=op.f("fk_course_members_course_id_courses"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_course_members_user_id_users"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_course_members")),
        sa.UniqueConstraint("course_id", "user_id", name=op.f("uq_course_members_course_id_user_id")),
    )
    op.create_index(op.f("ix_course_members_user_id"), "course_members", ["user_id"], unique=False)


def _make_parts() -> None:
    op.create_table(
        "assignment_parts",
        sa.Column("assignment_id", sa.Integer(), nullable=False),
        sa.Column("challenge", sa.String(length=64), nullable=False),
        sa.Column("weight", sa.Double(), nullable=False),
        sa.Column("place", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["assignment_id"],
            ["assignments.id"],
            name=op.f("fk_assignment_parts_assignment_id_assignments"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("assignment_id", "challenge", name=op.f("pk_assignment_parts")),
    )
    op.create_index(op.f("ix_assignment_parts_challenge"), "assignment_parts", ["challenge"], unique=False)


def _make_extensions() -> None:
    op.create_table(
        "extensions",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("assignment_id", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=True),
        sa.Column("section", sa.String(length=64), nullable=True),
        sa.Column("due_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("late_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("made_by", sa.Integer(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint(
            "(user_id IS NULL) <> (section IS NULL)", name=op.f("ck_extensions_of_one_or_of_a_section")
        ),
        sa.CheckConstraint(
            "late_until IS NULL OR late_until >= due_at", name=op.f("ck_extensions_late_after_due")
        ),
        sa.ForeignKeyConstraint(
            ["assignment_id"],
            ["assignments.id"],
            name=op.f("fk_extensions_assignment_id_assignments"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["made_by"], ["users.id"], name=op.f("fk_extensions_made_by_users"), ondelete="SET NULL"
        ),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_extensions_user_id_users"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_extensions")),
        sa.UniqueConstraint("assignment_id", "section", name=op.f("uq_extensions_assignment_id_section")),
        sa.UniqueConstraint("assignment_id", "user_id", name=op.f("uq_extensions_assignment_id_user_id")),
    )


def _make_overrides() -> None:
    op.create_table(
        "grade_overrides",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("assignment_id", sa.Integer(), nullable=False),
        sa.Column("challenge", sa.String(length=64), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("points", sa.Double(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("made_by", sa.Integer(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["assignment_id"],
            ["assignments.id"],
            name=op.f("fk_grade_overrides_assignment_id_assignments"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["made_by"], ["users.id"], name=op.f("fk_grade_overrides_made_by_users"), ondelete="SET NULL"
        ),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_grade_overrides_user_id_users"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_grade_overrides")),
        sa.UniqueConstraint(
            "assignment_id",
            "challenge",
            "user_id",
            name=op.f("uq_grade_overrides_assignment_id_challenge_user_id"),
        ),
    )


def downgrade() -> None:
    for table in (
        "grade_overrides",
        "extensions",
        "assignment_parts",
        "course_members",
        "course_join_codes",
        "course_invitations",
        "audit_log",
        "assignments",
        "courses",
    ):
        op.drop_table(table)
    for name in ("teaches", "came_by"):
        op.drop_column("users", name)
