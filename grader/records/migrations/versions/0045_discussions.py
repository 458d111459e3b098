"""Discussions of challenges and chapters, and reports of errors. Existing courses have discussions on."""

import sqlalchemy as sa
from alembic import op

revision = "0045"
down_revision = "0044"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("courses", sa.Column("discussion", sa.Boolean(), server_default=sa.true(), nullable=False))
    op.create_table(
        "posts",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("about", sa.String(length=16), nullable=False),
        sa.Column("slug", sa.String(length=64), nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("thread_id", sa.Integer(), nullable=True),
        sa.Column("author_id", sa.Integer(), nullable=True),
        sa.Column("staff", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("spoiler", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("edited_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("deleted_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("hidden_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("hidden_by", sa.Integer(), nullable=True),
        sa.Column("hidden_reason", sa.Text(), server_default="", nullable=False),
        sa.Column("resolved_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("resolved_by", sa.Integer(), nullable=True),
        sa.Column("answer", sa.Text(), server_default="", nullable=False),
        sa.ForeignKeyConstraint(
            ["thread_id"], ["posts.id"], name=op.f("fk_posts_thread_id_posts"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["author_id"], ["users.id"], name=op.f("fk_posts_author_id_users"), ondelete="SET NULL"
        ),
        sa.ForeignKeyConstraint(
            ["hidden_by"], ["users.id"], name=op.f("fk_posts_hidden_by_users"), ondelete="SET NULL"
        ),
        sa.ForeignKeyConstraint(
            ["resolved_by"], ["users.id"], name=op.f("fk_posts_resolved_by_users"), ondelete="SET NULL"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_posts")),
    )
    op.create_index(op.f("ix_posts_about_slug_kind_id"), "posts", ["about", "slug", "kind", "id"])
    op.create_index(op.f("ix_posts_thread_id"), "posts", ["thread_id"])
    op.create_index(op.f("ix_posts_author_id_created_at"), "posts", ["author_id", "created_at"])
    op.create_index(op.f("ix_posts_kind_resolved_at"), "posts", ["kind", "resolved_at"])


def downgrade() -> None:
    op.drop_table("posts")
    with op.batch_alter_table("courses", schema=None, recreate="never") as batch_op:
        batch_op.drop_column("discussion")
