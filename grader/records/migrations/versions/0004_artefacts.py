"""Compiled submissions, and the GPUs to compile for."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "gpus",
        sa.Column("uuid", sa.String(length=64), nullable=False),
        sa.Column("device", sa.String(length=32), nullable=False),
        sa.Column("model", sa.String(length=128), nullable=False),
        sa.Column("architecture", sa.String(length=16), nullable=False),
        sa.Column("seen_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("uuid", name=op.f("pk_gpus")),
    )
    op.create_table(
        "artefacts",
        sa.Column("key", sa.String(length=64), nullable=False),
        sa.Column("arch", sa.String(length=16), nullable=False),
        sa.Column("toolkit", sa.String(length=32), nullable=False),
        sa.Column("library", sa.LargeBinary(), nullable=False),
        sa.Column("sha256", sa.String(length=64), nullable=False),
        sa.Column("size", sa.Integer(), nullable=False),
        sa.Column("log", sa.Text(), nullable=False),
        sa.Column("kernels", sa.JSON(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("used_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_artefacts")),
    )
    with op.batch_alter_table("artefacts", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_artefacts_used_at"), ["used_at"], unique=False)
    with op.batch_alter_table("submissions", schema=None) as batch_op:
        batch_op.add_column(sa.Column("artefact", sa.String(length=64), nullable=True))
    with op.batch_alter_table("workers", schema=None) as batch_op:
        batch_op.add_column(sa.Column("compiles", sa.Boolean(), nullable=False, server_default=sa.false()))


def downgrade() -> None:
    with op.batch_alter_table("workers", schema=None) as batch_op:
        batch_op.drop_column("compiles")
    # In SQLite, rebuilding the table would delete all reports.
    with op.batch_alter_table("submissions", schema=None, recreate="never") as batch_op:
        batch_op.drop_column("artefact")
    op.drop_table("artefacts")
    op.drop_table("gpus")
