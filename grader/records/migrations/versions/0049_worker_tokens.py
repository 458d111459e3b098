"""Tokens of workers over HTTPS, and what such a worker claimed last."""

import sqlalchemy as sa
from alembic import op

revision = "0049"
down_revision = "0048"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "worker_tokens",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=64), nullable=False),
        sa.Column("sha256", sa.String(length=64), nullable=False),
        sa.Column("devices", sa.String(length=255), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("last_used_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_worker_tokens")),
        sa.UniqueConstraint("name", name=op.f("uq_worker_tokens_name")),
        sa.UniqueConstraint("sha256", name=op.f("uq_worker_tokens_sha256")),
    )
    op.add_column("workers", sa.Column("token_id", sa.Integer(), nullable=True))
    op.add_column("workers", sa.Column("claim_key", sa.String(length=64), server_default="", nullable=False))
    op.add_column("workers", sa.Column("claim_id", sa.Integer(), nullable=True))
    op.add_column("workers", sa.Column("claim_attempt", sa.Integer(), nullable=True))


def downgrade() -> None:
    with op.batch_alter_table("workers") as workers:
        for name in ("claim_attempt", "claim_id", "claim_key", "token_id"):
            workers.drop_column(name)
    op.drop_table("worker_tokens")
