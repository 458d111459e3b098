"""Similar pairs of submissions, and staff's decisions."""

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "similarity_runs",
        sa.Column("assignment_id", sa.Integer(), nullable=False),
        sa.Column("made_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("made_by", sa.Integer(), nullable=True),
        sa.Column("sources", sa.Integer(), nullable=False),
        sa.Column("seconds", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(
            ["assignment_id"],
            ["assignments.id"],
            name=op.f("fk_similarity_runs_assignment_id_assignments"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["made_by"], ["users.id"], name=op.f("fk_similarity_runs_made_by_users"), ondelete="SET NULL"
        ),
        sa.PrimaryKeyConstraint("assignment_id", name=op.f("pk_similarity_runs")),
    )
    op.create_table(
        "similar_pairs",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("assignment_id", sa.Integer(), nullable=False),
        sa.Column("challenge", sa.String(length=64), nullable=False),
        sa.Column("submission", sa.String(length=32), nullable=False),
        sa.Column("other", sa.String(length=32), nullable=False),
        sa.Column("share", sa.Double(), nullable=False),
        sa.Column("other_share", sa.Double(), nullable=False),
        sa.Column("bits", sa.Double(), nullable=False),
        sa.Column("decision", sa.String(length=16), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("decided_by", sa.Integer(), nullable=True),
        sa.Column("decided_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["assignment_id"],
            ["assignments.id"],
            name=op.f("fk_similar_pairs_assignment_id_assignments"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["decided_by"], ["users.id"], name=op.f("fk_similar_pairs_decided_by_users"), ondelete="SET NULL"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_similar_pairs")),
        sa.UniqueConstraint(
            "assignment_id",
            "submission",
            "other",
            name=op.f("uq_similar_pairs_assignment_id_submission_other"),
        ),
    )
    op.create_index(op.f("ix_similar_pairs_submission"), "similar_pairs", ["submission"])
    op.create_index(op.f("ix_similar_pairs_other"), "similar_pairs", ["other"])


def downgrade() -> None:
    op.drop_table("similar_pairs")
    op.drop_table("similarity_runs")
