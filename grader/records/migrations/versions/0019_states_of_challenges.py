"""Drafts of challenges, and visibility of people on boards."""

import sqlalchemy as sa
from alembic import op

revision = "0019"
down_revision = "0018"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "challenge_states",
        sa.Column("challenge", sa.String(length=64), nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("publish_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("board", sa.String(length=16), server_default="public", nullable=False),
        sa.Column("frozen_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("changed_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("changed_by", sa.Integer(), nullable=True),
        sa.ForeignKeyConstraint(
            ["changed_by"],
            ["users.id"],
            name=op.f("fk_challenge_states_changed_by_users"),
            ondelete="SET NULL",
        ),
        sa.PrimaryKeyConstraint("challenge", name=op.f("pk_challenge_states")),
    )


def downgrade() -> None:
    op.drop_table("challenge_states")
