"""The author of an artefact that no submission names."""

from alembic import op

revision = "0032"
down_revision = "0031"
branch_labels = None
depends_on = None


def upgrade() -> None:
    # SQLite adds a constraint only with its column.
    op.execute(
        "ALTER TABLE artefacts ADD COLUMN user_id INTEGER "
        "CONSTRAINT fk_artefacts_user_id_users REFERENCES users (id)"
    )


def downgrade() -> None:
    op.execute("DELETE FROM artefacts WHERE user_id IS NOT NULL")
    with op.batch_alter_table("artefacts", schema=None, recreate="never") as batch_op:
        batch_op.drop_column("user_id")
