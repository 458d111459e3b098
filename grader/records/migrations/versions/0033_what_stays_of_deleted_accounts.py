"""Deletion times of accounts, submissions left out because of them, and recipients of grades."""

import hashlib

import sqlalchemy as sa
from alembic import op

revision = "0033"
down_revision = "0032"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("users", sa.Column("deleted_at", sa.DateTime(timezone=True), nullable=True))
    op.add_column("regrades", sa.Column("left_out", sa.Integer(), server_default="0", nullable=False))
    op.add_column(
        "competition_finals", sa.Column("left_out", sa.Integer(), server_default="0", nullable=False)
    )
    op.add_column("lti_scores", sa.Column("subject_sha256", sa.String(length=64), nullable=True))
    # Earlier releases noted deletions only in courses. No password has that hash.
    op.execute(
        "UPDATE users SET deleted_at = COALESCE("
        "(SELECT MAX(left_at) FROM course_members WHERE course_members.user_id = users.id), created_at) "
        "WHERE password_hash = '!' AND email IS NULL AND name LIKE 'deleted-user-%'"
    )
    _note_subjects()


def _note_subjects() -> None:
    connection = op.get_bind()
    found = connection.execute(
        sa.text(
            "SELECT lti_scores.id, identities.authority, identities.subject FROM lti_scores "
            "JOIN lti_links ON lti_links.id = lti_scores.link_id "
            "JOIN lti_contexts ON lti_contexts.id = lti_links.context_id "
            "JOIN lti_platforms ON lti_platforms.id = lti_contexts.platform_id "
            "JOIN identities ON identities.user_id = lti_scores.user_id "
            "AND identities.authority = lti_platforms.issuer || ' ' || lti_platforms.client_id "
            "WHERE lti_scores.sent_at IS NOT NULL ORDER BY identities.id DESC"
        )
    ).all()
    for score, authority, subject in found:
        digest = hashlib.sha256(f"{authority}\n{subject}".encode()).hexdigest()
        connection.execute(
            sa.text("UPDATE lti_scores SET subject_sha256 = :digest WHERE id = :score"),
            {"digest": digest, "score": score},
        )


def downgrade() -> None:
    for table, column in (
        ("lti_scores", "subject_sha256"),
        ("competition_finals", "left_out"),
        ("regrades", "left_out"),
        ("users", "deleted_at"),
    ):
        with op.batch_alter_table(table, schema=None, recreate="never") as batch_op:
            batch_op.drop_column(column)
