"""GPUs of workers: faults and ceilings."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    with op.batch_alter_table("workers", schema=None) as batch_op:
        batch_op.add_column(sa.Column("gpu", sa.String(length=64), nullable=True))
        batch_op.add_column(sa.Column("out_of_service", sa.Text(), nullable=False, server_default=""))
    op.create_table(
        "ceilings",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("gpu", sa.String(length=64), nullable=False),
        sa.Column("driver", sa.String(length=64), nullable=False),
        sa.Column("torch", sa.String(length=64), nullable=False),
        sa.Column("name", sa.String(length=32), nullable=False),
        sa.Column("value", sa.Double(), nullable=False),
        sa.Column("measured_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_ceilings")),
        sa.UniqueConstraint("gpu", "driver", "torch", "name", name=op.f("uq_ceilings_gauge")),
    )


def downgrade() -> None:
    op.drop_table("ceilings")
    with op.batch_alter_table("workers", schema=None) as batch_op:
        batch_op.drop_column("out_of_service")
        batch_op.drop_column("gpu")
