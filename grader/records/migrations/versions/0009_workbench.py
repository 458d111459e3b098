"""Drafts, preferences, keys of shared submissions."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "drafts",
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("challenge", sa.String(length=64), nullable=False),
        sa.Column("language", sa.String(length=16), nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_drafts_user_id_users"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("user_id", "challenge", "language", name=op.f("pk_drafts")),
    )
    # In SQLite, rebuilding a table would delete rows that refer to it.
    with op.batch_alter_table("users", schema=None, recreate="never") as batch_op:
        batch_op.add_column(sa.Column("preferences", sa.JSON(), nullable=False, server_default="{}"))
    with op.batch_alter_table("submissions", schema=None, recreate="never") as batch_op:
        batch_op.add_column(sa.Column("share_key", sa.String(length=43), nullable=True))
    op.create_index(op.f("ix_submissions_share_key"), "submissions", ["share_key"], unique=True)


def downgrade() -> None:
    op.drop_index(op.f("ix_submissions_share_key"), table_name="submissions")
    with op.batch_alter_table("submissions", schema=None, recreate="never") as batch_op:
        batch_op.drop_column("share_key")
    with op.batch_alter_table("users", schema=None, recreate="never") as batch_op:
        batch_op.drop_column("preferences")
    op.drop_table("drafts")
