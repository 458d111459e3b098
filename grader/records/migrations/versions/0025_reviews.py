"""Reviews of flags and similar pairs."""

import sqlalchemy as sa
from alembic import op

revision = "0025"
down_revision = "0024"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "reviews",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("submission_id", sa.Integer(), nullable=True),
        sa.Column("flag", sa.String(length=24), nullable=True),
        sa.Column("pair_id", sa.Integer(), nullable=True),
        sa.Column("reviewer_id", sa.Integer(), nullable=True),
        sa.Column("outcome", sa.String(length=16), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("decided_by", sa.Integer(), nullable=True),
        sa.Column("decided_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint(
            "(submission_id IS NULL) = (flag IS NULL) AND (flag IS NULL) <> (pair_id IS NULL)",
            name=op.f("ck_reviews_of_a_flag_or_a_pair"),
        ),
        sa.ForeignKeyConstraint(
            ["submission_id"],
            ["submissions.id"],
            name=op.f("fk_reviews_submission_id_submissions"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["pair_id"],
            ["similar_pairs.id"],
            name=op.f("fk_reviews_pair_id_similar_pairs"),
            ondelete="CASCADE",
        ),
        *(
            sa.ForeignKeyConstraint(
                [column], ["users.id"], name=op.f(f"fk_reviews_{column}_users"), ondelete="SET NULL"
            )
            for column in ("reviewer_id", "decided_by")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_reviews")),
        sa.UniqueConstraint("submission_id", "flag", name=op.f("uq_reviews_submission_id_flag")),
        sa.UniqueConstraint("pair_id", name=op.f("uq_reviews_pair_id")),
    )


def downgrade() -> None:
    op.drop_table("reviews")
