"""Budgets of GPU seconds, and what was used."""

import sqlalchemy as sa
from alembic import op

revision = "0047"
down_revision = "0046"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("submissions", sa.Column("course_id", sa.Integer(), nullable=True))
    op.add_column("submissions", sa.Column("token_id", sa.Integer(), nullable=True))
    op.create_table(
        "budgets",
        sa.Column("payer", sa.String(length=16), nullable=False),
        sa.Column("payer_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("day_s", sa.Double(), nullable=True),
        sa.Column("total_s", sa.Double(), nullable=True),
        sa.PrimaryKeyConstraint("payer", "payer_id", name=op.f("pk_budgets")),
    )
    op.create_table(
        "gpu_time",
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("day", sa.String(length=10), nullable=False),
        sa.Column("device", sa.String(length=32), nullable=False),
        sa.Column("course_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("competition_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("token_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("seconds", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_gpu_time_user_id_users")),
        sa.PrimaryKeyConstraint(
            "user_id", "day", "device", "course_id", "competition_id", "token_id", name=op.f("pk_gpu_time")
        ),
    )
    for payer in ("course_id", "competition_id", "token_id"):
        op.create_index(op.f(f"ix_gpu_time_{payer}_day"), "gpu_time", [payer, "day"])


def downgrade() -> None:
    op.drop_table("gpu_time")
    op.drop_table("budgets")
    op.drop_column("submissions", "token_id")
    op.drop_column("submissions", "course_id")
