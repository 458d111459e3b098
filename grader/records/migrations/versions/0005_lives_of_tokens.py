"""Expiry and last use of tokens."""

from datetime import UTC, datetime, timedelta

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

# Tokens without an end get the life of a new one.
_DAYS = 180


def upgrade() -> None:
    with op.batch_alter_table("tokens", schema=None) as batch_op:
        batch_op.add_column(sa.Column("expires_at", sa.DateTime(timezone=True), nullable=True))
        batch_op.add_column(sa.Column("last_used_at", sa.DateTime(timezone=True), nullable=True))
    tokens = sa.table("tokens", sa.column("expires_at", sa.DateTime(timezone=True)))
    op.execute(tokens.update().values(expires_at=datetime.now(UTC) + timedelta(days=_DAYS)))
    with op.batch_alter_table("tokens", schema=None) as batch_op:
        batch_op.alter_column("expires_at", existing_type=sa.DateTime(timezone=True), nullable=False)


def downgrade() -> None:
    with op.batch_alter_table("tokens", schema=None) as batch_op:
        batch_op.drop_column("last_used_at")
        batch_op.drop_column("expires_at")
