"""Served versions of challenges, and rejudges."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "challenge_versions",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("challenge", sa.String(length=64), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("fingerprint", sa.String(length=64), nullable=False),
        sa.Column("content", sa.Text(), nullable=False),
        sa.Column("served_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("published_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_challenge_versions")),
        sa.UniqueConstraint("challenge", "version", name=op.f("uq_challenge_versions_challenge_version")),
    )
    # SQLite adds a constraint only with its column. If Alembic rebuilt the table, dropping the old one would
    # delete all reports.
    op.execute(
        "ALTER TABLE submissions ADD COLUMN rejudge_of INTEGER "
        "CONSTRAINT fk_submissions_rejudge_of_submissions REFERENCES submissions (id)"
    )
    op.create_index(op.f("ix_submissions_rejudge_of"), "submissions", ["rejudge_of"], unique=False)
    # The content judged until now is unknown: {} agrees with everything.
    op.execute(
        "INSERT INTO challenge_versions (challenge, version, fingerprint, content, served_at, published_at) "
        "SELECT challenge, version, '', '{}', MIN(created_at), MIN(created_at) FROM submissions "
        "WHERE verdict IS NOT NULL GROUP BY challenge, version"
    )


def downgrade() -> None:
    op.execute("DELETE FROM submissions WHERE rejudge_of IS NOT NULL")
    op.drop_index(op.f("ix_submissions_rejudge_of"), table_name="submissions")
    with op.batch_alter_table("submissions", schema=None, recreate="never") as batch_op:
        batch_op.drop_column("rejudge_of")
    op.drop_table("challenge_versions")
