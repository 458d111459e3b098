"""Comments, rubrics, regrade requests, notices, announcements and questions."""

import sqlalchemy as sa
from alembic import op

revision = "0022"
down_revision = "0021"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "notice_choices",
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("site", sa.Boolean(), nullable=False),
        sa.Column("mail", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_notice_choices_user_id_users"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("user_id", "kind", name=op.f("pk_notice_choices")),
    )
    op.create_table(
        "notices",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("path", sa.String(length=200), nullable=False),
        sa.Column("count", sa.Integer(), server_default=sa.text("1"), nullable=False),
        sa.Column("on_site", sa.Boolean(), server_default=sa.true(), nullable=False),
        sa.Column("mail_due", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("read_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_notices_user_id_users"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_notices")),
    )
    op.create_index(op.f("ix_notices_created_at"), "notices", ["created_at"])
    op.create_index(
        "ix_notices_mail_due",
        "notices",
        ["created_at"],
        sqlite_where=sa.text("mail_due"),
        postgresql_where=sa.text("mail_due"),
    )
    op.create_index(
        "ix_notices_unread",
        "notices",
        ["user_id", "kind", "path"],
        sqlite_where=sa.text("read_at IS NULL"),
        postgresql_where=sa.text("read_at IS NULL"),
    )
    op.create_index(op.f("ix_notices_user_id_id"), "notices", ["user_id", "id"])
    op.create_table(
        "questions",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("course_id", sa.Integer(), nullable=True),
        sa.Column("competition_id", sa.Integer(), nullable=True),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("about", sa.String(length=64), nullable=True),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("answer", sa.Text(), server_default="", nullable=False),
        sa.Column("to_all", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("answered_by", sa.Integer(), nullable=True),
        sa.Column("answered_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint(
            "(course_id IS NULL) <> (competition_id IS NULL)",
            name=op.f("ck_questions_of_course_or_competition"),
        ),
        sa.ForeignKeyConstraint(
            ["answered_by"], ["users.id"], name=op.f("fk_questions_answered_by_users"), ondelete="SET NULL"
        ),
        sa.ForeignKeyConstraint(
            ["competition_id"],
            ["competitions.id"],
            name=op.f("fk_questions_competition_id_competitions"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["course_id"], ["courses.id"], name=op.f("fk_questions_course_id_courses"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_questions_user_id_users"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_questions")),
    )
    op.create_index(op.f("ix_questions_competition_id_id"), "questions", ["competition_id", "id"])
    op.create_index(op.f("ix_questions_course_id_id"), "questions", ["course_id", "id"])
    op.create_index(op.f("ix_questions_user_id"), "questions", ["user_id"])
    op.create_table(
        "announcements",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("course_id", sa.Integer(), nullable=True),
        sa.Column("assignment_id", sa.Integer(), nullable=True),
        sa.Column("competition_id", sa.Integer(), nullable=True),
        sa.Column("title", sa.String(length=120), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("made_by", sa.Integer(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("edited_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint(
            "(course_id IS NULL) <> (competition_id IS NULL)",
            name=op.f("ck_announcements_of_course_or_competition"),
        ),
        sa.ForeignKeyConstraint(
            ["assignment_id"],
            ["assignments.id"],
            name=op.f("fk_announcements_assignment_id_assignments"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["competition_id"],
            ["competitions.id"],
            name=op.f("fk_announcements_competition_id_competitions"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["course_id"], ["courses.id"], name=op.f("fk_announcements_course_id_courses"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["made_by"], ["users.id"], name=op.f("fk_announcements_made_by_users"), ondelete="SET NULL"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_announcements")),
    )
    op.create_index(op.f("ix_announcements_competition_id_id"), "announcements", ["competition_id", "id"])
    op.create_index(op.f("ix_announcements_course_id_id"), "announcements", ["course_id", "id"])
    op.create_table(
        "assignment_feedback",
        sa.Column("assignment_id", sa.Integer(), nullable=False),
        sa.Column("shown", sa.String(length=16), nullable=False),
        sa.Column("released_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("regrade_limit", sa.Integer(), nullable=True),
        sa.Column("regrade_until", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["assignment_id"],
            ["assignments.id"],
            name=op.f("fk_assignment_feedback_assignment_id_assignments"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("assignment_id", name=op.f("pk_assignment_feedback")),
    )
    op.create_table(
        "regrade_requests",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("course_id", sa.Integer(), nullable=False),
        sa.Column("assignment_id", sa.Integer(), nullable=False),
        sa.Column("challenge", sa.String(length=64), nullable=False),
        sa.Column("submission", sa.String(length=10), nullable=True),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("turn", sa.Integer(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("answer", sa.Text(), server_default="", nullable=False),
        sa.Column("answered_by", sa.Integer(), nullable=True),
        sa.Column("answered_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint(
            "(answered_at IS NULL) = (state IN ('open', 'withdrawn'))",
            name=op.f("ck_regrade_requests_answered"),
        ),
        sa.ForeignKeyConstraint(
            ["answered_by"],
            ["users.id"],
            name=op.f("fk_regrade_requests_answered_by_users"),
            ondelete="SET NULL",
        ),
        sa.ForeignKeyConstraint(
            ["assignment_id"],
            ["assignments.id"],
            name=op.f("fk_regrade_requests_assignment_id_assignments"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["course_id"],
            ["courses.id"],
            name=op.f("fk_regrade_requests_course_id_courses"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_regrade_requests_user_id_users"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_regrade_requests")),
        sa.UniqueConstraint(
            "assignment_id",
            "challenge",
            "user_id",
            "turn",
            name=op.f("uq_regrade_requests_assignment_id_challenge_user_id_turn"),
        ),
    )
    op.create_index(
        op.f("ix_regrade_requests_course_id_state_id"), "regrade_requests", ["course_id", "state", "id"]
    )
    op.create_index(op.f("ix_regrade_requests_user_id"), "regrade_requests", ["user_id"])
    op.create_table(
        "rubric_criteria",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("assignment_id", sa.Integer(), nullable=False),
        sa.Column("challenge", sa.String(length=64), nullable=False),
        sa.Column("place", sa.Integer(), nullable=False),
        sa.Column("title", sa.String(length=120), nullable=False),
        sa.Column("about", sa.Text(), server_default="", nullable=False),
        sa.Column("points", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(
            ["assignment_id"],
            ["assignments.id"],
            name=op.f("fk_rubric_criteria_assignment_id_assignments"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_rubric_criteria")),
    )
    op.create_index(
        op.f("ix_rubric_criteria_assignment_id_challenge"), "rubric_criteria", ["assignment_id", "challenge"]
    )
    op.create_table(
        "comments",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("submission_id", sa.Integer(), nullable=False),
        sa.Column("thread_id", sa.Integer(), nullable=True),
        sa.Column("author_id", sa.Integer(), nullable=True),
        sa.Column("staff", sa.Boolean(), nullable=False),
        sa.Column("first_line", sa.Integer(), nullable=True),
        sa.Column("last_line", sa.Integer(), nullable=True),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("draft", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("edited_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("deleted_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("resolved_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("resolved_by", sa.Integer(), nullable=True),
        sa.CheckConstraint(
            "first_line IS NULL OR first_line <= last_line", name=op.f("ck_comments_lines_in_order")
        ),
        sa.ForeignKeyConstraint(
            ["author_id"], ["users.id"], name=op.f("fk_comments_author_id_users"), ondelete="SET NULL"
        ),
        sa.ForeignKeyConstraint(
            ["resolved_by"], ["users.id"], name=op.f("fk_comments_resolved_by_users"), ondelete="SET NULL"
        ),
        sa.ForeignKeyConstraint(
            ["submission_id"],
            ["submissions.id"],
            name=op.f("fk_comments_submission_id_submissions"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["thread_id"], ["comments.id"], name=op.f("fk_comments_thread_id_comments"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_comments")),
    )
    op.create_index(op.f("ix_comments_author_id"), "comments", ["author_id"])
    op.create_index(op.f("ix_comments_submission_id_id"), "comments", ["submission_id", "id"])
    op.create_table(
        "rubric_scores",
        sa.Column("criterion_id", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("points", sa.Double(), nullable=False),
        sa.Column("reason", sa.Text(), server_default="", nullable=False),
        sa.Column("made_by", sa.Integer(), nullable=True),
        sa.Column("made_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["criterion_id"],
            ["rubric_criteria.id"],
            name=op.f("fk_rubric_scores_criterion_id_rubric_criteria"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["made_by"], ["users.id"], name=op.f("fk_rubric_scores_made_by_users"), ondelete="SET NULL"
        ),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_rubric_scores_user_id_users"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("criterion_id", "user_id", name=op.f("pk_rubric_scores")),
    )
    op.create_index(op.f("ix_rubric_scores_user_id"), "rubric_scores", ["user_id"])
    op.create_table(
        "comment_edits",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("comment_id", sa.Integer(), nullable=False),
        sa.Column("by_id", sa.Integer(), nullable=True),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("until", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["by_id"], ["users.id"], name=op.f("fk_comment_edits_by_id_users"), ondelete="SET NULL"
        ),
        sa.ForeignKeyConstraint(
            ["comment_id"],
            ["comments.id"],
            name=op.f("fk_comment_edits_comment_id_comments"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_comment_edits")),
    )
    op.create_index(op.f("ix_comment_edits_comment_id"), "comment_edits", ["comment_id"])


def downgrade() -> None:
    op.drop_index(op.f("ix_comment_edits_comment_id"), table_name="comment_edits")
    op.drop_table("comment_edits")
    op.drop_index(op.f("ix_rubric_scores_user_id"), table_name="rubric_scores")
    op.drop_table("rubric_scores")
    op.drop_index(op.f("ix_comments_submission_id_id"), table_name="comments")
    op.drop_index(op.f("ix_comments_author_id"), table_name="comments")
    op.drop_table("comments")
    op.drop_index(op.f("ix_rubric_criteria_assignment_id_challenge"), table_name="rubric_criteria")
    op.drop_table("rubric_criteria")
    op.drop_index(op.f("ix_regrade_requests_user_id"), table_name="regrade_requests")
    op.drop_index(op.f("ix_regrade_requests_course_id_state_id"), table_name="regrade_requests")
    op.drop_table("regrade_requests")
    op.drop_table("assignment_feedback")
    op.drop_index(op.f("ix_announcements_course_id_id"), table_name="announcements")
    op.drop_index(op.f("ix_announcements_competition_id_id"), table_name="announcements")
    op.drop_table("announcements")
    op.drop_index(op.f("ix_questions_user_id"), table_name="questions")
    op.drop_index(op.f("ix_questions_course_id_id"), table_name="questions")
    op.drop_index(op.f("ix_questions_competition_id_id"), table_name="questions")
    op.drop_table("questions")
    op.drop_index(op.f("ix_notices_user_id_id"), table_name="notices")
    op.drop_index(
        "ix_notices_unread",
        table_name="notices",
        sqlite_where=sa.text("read_at IS NULL"),
        postgresql_where=sa.text("read_at IS NULL"),
    )
    op.drop_index(
        "ix_notices_mail_due",
        table_name="notices",
        sqlite_where=sa.text("mail_due"),
        postgresql_where=sa.text("mail_due"),
    )
    op.drop_index(op.f("ix_notices_created_at"), table_name="notices")
    op.drop_table("notices")
    op.drop_table("notice_choices")
