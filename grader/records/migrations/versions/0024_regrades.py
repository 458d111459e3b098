"""Regrades. Earlier rejudges belong to none."""

import sqlalchemy as sa
from alembic import op

revision = "0024"
down_revision = "0023"
branch_labels = None
depends_on = None

# Column -> table, and ON DELETE.
_REFERENCES = {
    "course_id": ("courses", "CASCADE"),
    "assignment_id": ("assignments", "SET NULL"),
    "user_id": ("users", "SET NULL"),
    "submission_id": ("submissions", None),
    "made_by": ("users", "SET NULL"),
    "decided_by": ("users", "SET NULL"),
}
_ROWS = ("first_id", "before_id", "after_id")


def upgrade() -> None:
    op.create_table(
        "regrades",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("scope", sa.String(length=16), nullable=False),
        sa.Column("course_id", sa.Integer(), nullable=True),
        sa.Column("assignment_id", sa.Integer(), nullable=True),
        sa.Column("user_id", sa.Integer(), nullable=True),
        sa.Column("submission_id", sa.Integer(), nullable=True),
        sa.Column("challenge", sa.String(length=64), nullable=True),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("made_by", sa.Integer(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("decided_by", sa.Integer(), nullable=True),
        sa.Column("decided_at", sa.DateTime(timezone=True), nullable=True),
        *(
            sa.ForeignKeyConstraint(
                [column], [f"{table}.id"], name=op.f(f"fk_regrades_{column}_{table}"), ondelete=gone
            )
            for column, (table, gone) in _REFERENCES.items()
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_regrades")),
    )
    op.create_index(op.f("ix_regrades_course_id"), "regrades", ["course_id"])
    op.create_table(
        "regrade_items",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("regrade_id", sa.Integer(), nullable=False),
        *(sa.Column(name, sa.Integer(), nullable=False) for name in _ROWS),
        sa.Column("held_id", sa.Integer(), nullable=True),
        sa.ForeignKeyConstraint(
            ["regrade_id"],
            ["regrades.id"],
            name=op.f("fk_regrade_items_regrade_id_regrades"),
            ondelete="CASCADE",
        ),
        *(
            sa.ForeignKeyConstraint(
                [name], ["submissions.id"], name=op.f(f"fk_regrade_items_{name}_submissions")
            )
            for name in _ROWS
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_regrade_items")),
        sa.UniqueConstraint("after_id", name=op.f("uq_regrade_items_after_id")),
        sa.UniqueConstraint("held_id", name=op.f("uq_regrade_items_held_id")),
    )
    for name in ("regrade_id", "first_id", "before_id"):
        op.create_index(op.f(f"ix_regrade_items_{name}"), "regrade_items", [name])


def downgrade() -> None:
    op.drop_table("regrade_items")
    op.drop_table("regrades")
