"""Uploaded challenges and their checks."""

import sqlalchemy as sa
from alembic import op

revision = "0021"
down_revision = "0020"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "challenge_uploads",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("challenge", sa.String(length=64), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("title", sa.String(length=120), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("archive", sa.LargeBinary(), nullable=False),
        sa.Column("size", sa.Integer(), nullable=False),
        sa.Column("files", sa.Integer(), nullable=False),
        sa.Column("note", sa.Text(), server_default="", nullable=False),
        sa.Column("base", sa.Integer(), nullable=True),
        sa.Column("examined", sa.Text(), nullable=True),
        sa.Column("in_use", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("used_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("uploaded_by", sa.Integer(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("check_state", sa.String(length=16), nullable=False),
        sa.Column("check_attempt", sa.Integer(), server_default="0", nullable=False),
        sa.Column("check_worker", sa.String(length=128), nullable=True),
        sa.Column("check_lease", sa.DateTime(timezone=True), nullable=True),
        sa.Column("check_progress", sa.JSON(), nullable=True),
        sa.Column("check_result", sa.Text(), nullable=True),
        sa.Column("check_error", sa.Text(), server_default="", nullable=False),
        sa.Column("check_began_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("check_ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["uploaded_by"],
            ["users.id"],
            name=op.f("fk_challenge_uploads_uploaded_by_users"),
            ondelete="SET NULL",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_challenge_uploads")),
        sa.UniqueConstraint("challenge", "number", name=op.f("uq_challenge_uploads_challenge_number")),
    )
    op.create_index("ix_challenge_uploads_check_state", "challenge_uploads", ["check_state"])


def downgrade() -> None:
    op.drop_table("challenge_uploads")
