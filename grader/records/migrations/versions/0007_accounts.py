"""Invitations, e-mail addresses, one-time links, scopes of tokens, device codes."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

# The scopes of earlier tokens.
_ALL = "read submit staff"
_BROWSER = "browser"  # the label of sessions


def upgrade() -> None:
    # Only columns and indexes: a constraint would make SQLite rebuild the table, which deletes rows that
    # refer to it.
    op.add_column("users", sa.Column("email", sa.String(254), nullable=True))
    op.add_column("users", sa.Column("email_key", sa.String(254), nullable=True))
    op.create_index("ix_users_email_key", "users", ["email_key"], unique=True)
    op.add_column("tokens", sa.Column("kind", sa.String(16), nullable=False, server_default="api"))
    op.add_column("tokens", sa.Column("scopes", sa.String(64), nullable=False, server_default=_ALL))
    op.add_column("tokens", sa.Column("address", sa.String(64), nullable=False, server_default=""))
    tokens = sa.table("tokens", sa.column("kind"), sa.column("label"))
    op.execute(tokens.update().where(tokens.c.label == _BROWSER).values(kind="session"))
    _make_links()
    _make_invitations()
    _make_device_codes()


def _make_links() -> None:
    op.create_table(
        "links",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("purpose", sa.String(16), nullable=False),
        sa.Column("sha256", sa.String(64), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=True),
        sa.Column("email", sa.String(254), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("used_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_links_user_id_users"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_links")),
        sa.UniqueConstraint("sha256", name=op.f("uq_links_sha256")),
    )
    op.create_index("ix_links_user_id_purpose", "links", ["user_id", "purpose"])
    op.create_index("ix_links_email_purpose", "links", ["email", "purpose"])


def _make_invitations() -> None:
    op.create_table(
        "invitations",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("sha256", sa.String(64), nullable=False),
        sa.Column("label", sa.String(64), nullable=False),
        sa.Column("role", sa.String(16), nullable=False),
        sa.Column("uses", sa.Integer(), nullable=False),
        sa.Column("used", sa.Integer(), nullable=False, server_default=sa.text("0")),
        sa.Column("made_by", sa.Integer(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["made_by"], ["users.id"], name=op.f("fk_invitations_made_by_users"), ondelete="SET NULL"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_invitations")),
        sa.UniqueConstraint("sha256", name=op.f("uq_invitations_sha256")),
    )


def _make_device_codes() -> None:
    op.create_table(
        "device_codes",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("device_sha256", sa.String(64), nullable=False),
        sa.Column("user_sha256", sa.String(64), nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("label", sa.String(64), nullable=False),
        sa.Column("scopes", sa.String(64), nullable=False),
        sa.Column("days", sa.Integer(), nullable=True),
        sa.Column("address", sa.String(64), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=True),
        sa.Column("interval", sa.Integer(), nullable=False),
        sa.Column("polled_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_device_codes_user_id_users"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_device_codes")),
        sa.UniqueConstraint("device_sha256", name=op.f("uq_device_codes_device_sha256")),
        sa.UniqueConstraint("user_sha256", name=op.f("uq_device_codes_user_sha256")),
    )
    op.create_index("ix_device_codes_expires_at", "device_codes", ["expires_at"])


def downgrade() -> None:
    op.drop_table("device_codes")
    op.drop_table("invitations")
    op.drop_table("links")
    for name in ("address", "scopes", "kind"):
        op.drop_column("tokens", name)
    op.drop_index("ix_users_email_key", "users")
    for name in ("email_key", "email"):
        op.drop_column("users", name)
