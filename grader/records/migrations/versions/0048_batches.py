"""Batches, and tokens with limits of their own."""

import sqlalchemy as sa
from alembic import op

revision = "0048"
down_revision = "0047"
branch_labels = None
depends_on = None

_LIMITED = ("tokens", "device_codes")


def upgrade() -> None:
    op.create_table(
        "batches",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("public_id", sa.String(length=10), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=64), nullable=False),
        sa.Column("token_sha256", sa.String(length=64), nullable=True),
        sa.Column("entries", sa.Integer(), nullable=False),
        sa.Column("ended", sa.Integer(), nullable=False),
        sa.Column("bytes", sa.Integer(), nullable=False),
        sa.Column("counts", sa.JSON(), nullable=False),
        sa.Column("held_for", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("cancelled_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_batches_user_id_users"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_batches")),
        sa.UniqueConstraint("public_id", name=op.f("uq_batches_public_id")),
        sa.UniqueConstraint("user_id", "name", name=op.f("uq_batches_user_id_name")),
    )
    unfinished = sa.text("finished_at IS NULL")
    op.create_index(
        "ix_batches_unfinished", "batches", ["id"], sqlite_where=unfinished, postgresql_where=unfinished
    )
    op.create_table(
        "batch_entries",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("batch_id", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("key", sa.String(length=64), nullable=False),
        sa.Column("request_sha256", sa.String(length=64), nullable=False),
        sa.Column("line", sa.Integer(), nullable=False),
        sa.Column("sender_id", sa.String(length=128), nullable=True),
        sa.Column("scope", sa.String(length=80), nullable=False),
        sa.Column("request", sa.Text(), nullable=True),
        sa.Column("submission_id", sa.Integer(), nullable=True),
        sa.Column("number", sa.Integer(), nullable=True),
        sa.Column("result", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(
            ["batch_id"], ["batches.id"], name=op.f("fk_batch_entries_batch_id_batches"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_batch_entries_user_id_users"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["submission_id"],
            ["submissions.id"],
            name=op.f("fk_batch_entries_submission_id_submissions"),
            ondelete="SET NULL",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_batch_entries")),
        sa.UniqueConstraint("batch_id", "key", name=op.f("uq_batch_entries_batch_id_key")),
        sa.UniqueConstraint("batch_id", "number", name=op.f("uq_batch_entries_batch_id_number")),
    )
    op.create_index(op.f("ix_batch_entries_user_id"), "batch_entries", ["user_id"])
    op.create_index(op.f("ix_batch_entries_submission_id"), "batch_entries", ["submission_id"])
    unended = sa.text("result IS NULL")
    op.create_index(
        "ix_batch_entries_unended",
        "batch_entries",
        ["batch_id", "id"],
        sqlite_where=unended,
        postgresql_where=unended,
    )
    op.add_column("submissions", sa.Column("token_key", sa.String(length=16), nullable=True))
    for table in _LIMITED:
        op.add_column(table, sa.Column("per_day", sa.Integer(), nullable=True))
        op.add_column(table, sa.Column("at_once", sa.Integer(), nullable=True))


def downgrade() -> None:
    for table in _LIMITED:
        with op.batch_alter_table(table, schema=None) as batch_op:
            batch_op.drop_column("at_once")
            batch_op.drop_column("per_day")
    # In SQLite, rebuilding the table would delete all reports.
    with op.batch_alter_table("submissions", schema=None, recreate="never") as batch_op:
        batch_op.drop_column("token_key")
    op.drop_table("batch_entries")
    op.drop_table("batches")
