"""The mail of a notice, so an interrupted one can be sent again as the same mail."""

import sqlalchemy as sa
from alembic import op

revision = "0031"
down_revision = "0030"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("notices", sa.Column("mail_id", sa.String(length=320), nullable=True))
    op.add_column("notices", sa.Column("mail_begun_at", sa.DateTime(timezone=True), nullable=True))
    op.add_column(
        "notices", sa.Column("mail_tries", sa.Integer(), server_default=sa.text("0"), nullable=False)
    )


def downgrade() -> None:
    op.drop_column("notices", "mail_tries")
    op.drop_column("notices", "mail_begun_at")
    op.drop_column("notices", "mail_id")
