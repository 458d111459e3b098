"""Git repositories of courses' catalogues, and commits of uploads."""

import sqlalchemy as sa
from alembic import op

revision = "0041"
down_revision = "0040"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "catalogue_sources",
        sa.Column("course_id", sa.Integer(), nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("credential", sa.Text(), server_default="", nullable=False),
        sa.Column("branch", sa.String(length=200), nullable=False),
        sa.Column("prefix", sa.String(length=32), server_default="", nullable=False),
        sa.Column("hook_sha256", sa.String(length=64), nullable=True),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("error", sa.Text(), server_default="", nullable=False),
        sa.Column("asked_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("asked_by", sa.Integer(), nullable=True),
        sa.Column("attempt", sa.Integer(), server_default="0", nullable=False),
        sa.Column("lease", sa.DateTime(timezone=True), nullable=True),
        sa.Column("commit", sa.String(length=64), nullable=True),
        sa.Column("uploads", sa.JSON(), nullable=True),
        sa.Column("served_commit", sa.String(length=64), nullable=True),
        sa.Column("served_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["course_id"],
            ["courses.id"],
            name=op.f("fk_catalogue_sources_course_id_courses"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["asked_by"], ["users.id"], name=op.f("fk_catalogue_sources_asked_by_users"), ondelete="SET NULL"
        ),
        sa.PrimaryKeyConstraint("course_id", name=op.f("pk_catalogue_sources")),
        sa.UniqueConstraint("hook_sha256", name=op.f("uq_catalogue_sources_hook_sha256")),
    )
    op.add_column("challenge_uploads", sa.Column("commit", sa.String(length=64), nullable=True))


def downgrade() -> None:
    with op.batch_alter_table("challenge_uploads", schema=None, recreate="never") as batch_op:
        batch_op.drop_column("commit")
    op.drop_table("catalogue_sources")
