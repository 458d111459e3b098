"""Learning platforms, their courses, links and grades."""

import sqlalchemy as sa
from alembic import op

revision = "0027"
down_revision = "0026"
branch_labels = None
depends_on = None

_AT = sa.DateTime(timezone=True)


def _reference(table: str, column: str, to: str, on_delete: str = "CASCADE") -> sa.ForeignKeyConstraint:
    name = op.f(f"fk_{table}_{column}_{to}")
    return sa.ForeignKeyConstraint([column], [f"{to}.id"], name=name, ondelete=on_delete)


def upgrade() -> None:
    op.create_table(
        "lti_keys",
        sa.Column("kid", sa.String(length=64), nullable=False),
        sa.Column("private", sa.JSON(), nullable=False),
        sa.Column("created_at", _AT, nullable=False),
        sa.PrimaryKeyConstraint("kid", name=op.f("pk_lti_keys")),
    )
    op.create_table(
        "lti_platforms",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=64), nullable=False),
        sa.Column("issuer", sa.String(length=1024), nullable=False),
        sa.Column("client_id", sa.String(length=255), nullable=False),
        sa.Column("deployments", sa.JSON(), nullable=False),
        sa.Column("auth_url", sa.String(length=1024), nullable=False),
        sa.Column("token_url", sa.String(length=1024), nullable=False),
        sa.Column("jwks_url", sa.String(length=1024), nullable=False),
        sa.Column("token_audience", sa.String(length=1024), server_default="", nullable=False),
        sa.Column("hosts", sa.JSON(), nullable=False),
        sa.Column("accounts", sa.String(length=16), nullable=False),
        sa.Column("trust_email", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("created_at", _AT, nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_lti_platforms")),
        sa.UniqueConstraint("issuer", "client_id", name=op.f("uq_lti_platforms_issuer_client_id")),
    )
    op.create_table(
        "lti_launches",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("platform_id", sa.Integer(), nullable=False),
        sa.Column("state_sha256", sa.String(length=64), nullable=False),
        sa.Column("nonce", sa.String(length=64), nullable=False),
        sa.Column("said", sa.JSON(), nullable=True),
        sa.Column("ticket_sha256", sa.String(length=64), nullable=True),
        sa.Column("created_at", _AT, nullable=False),
        sa.Column("expires_at", _AT, nullable=False),
        sa.Column("used_at", _AT, nullable=True),
        _reference("lti_launches", "platform_id", "lti_platforms"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_lti_launches")),
        sa.UniqueConstraint("state_sha256", name=op.f("uq_lti_launches_state_sha256")),
        sa.UniqueConstraint("ticket_sha256", name=op.f("uq_lti_launches_ticket_sha256")),
    )
    op.create_index(op.f("ix_lti_launches_expires_at"), "lti_launches", ["expires_at"])
    op.create_table(
        "lti_contexts",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("platform_id", sa.Integer(), nullable=False),
        sa.Column("deployment", sa.String(length=255), nullable=False),
        sa.Column("context", sa.String(length=255), nullable=False),
        sa.Column("title", sa.String(length=120), server_default="", nullable=False),
        sa.Column("course_id", sa.Integer(), nullable=False),
        sa.Column("teachers", sa.String(length=16), nullable=False),
        sa.Column("linked_by", sa.Integer(), nullable=True),
        sa.Column("created_at", _AT, nullable=False),
        _reference("lti_contexts", "platform_id", "lti_platforms"),
        _reference("lti_contexts", "course_id", "courses"),
        _reference("lti_contexts", "linked_by", "users", "SET NULL"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_lti_contexts")),
        sa.UniqueConstraint("platform_id", "deployment", "context", name=op.f("uq_lti_contexts_of_platform")),
    )
    op.create_index(op.f("ix_lti_contexts_course_id"), "lti_contexts", ["course_id"])
    op.create_table(
        "lti_links",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("context_id", sa.Integer(), nullable=False),
        sa.Column("resource", sa.String(length=255), nullable=False),
        sa.Column("assignment_id", sa.Integer(), nullable=False),
        sa.Column("title", sa.String(length=120), server_default="", nullable=False),
        sa.Column("line_item", sa.String(length=1024), server_default="", nullable=False),
        sa.Column("why_not", sa.Text(), server_default="", nullable=False),
        sa.Column("released_at", _AT, nullable=True),
        sa.Column("created_at", _AT, nullable=False),
        _reference("lti_links", "context_id", "lti_contexts"),
        _reference("lti_links", "assignment_id", "assignments"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_lti_links")),
        sa.UniqueConstraint("context_id", "resource", name=op.f("uq_lti_links_context_id_resource")),
    )
    op.create_index(op.f("ix_lti_links_assignment_id"), "lti_links", ["assignment_id"])
    op.create_table(
        "lti_scores",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("link_id", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("points", sa.Double(), nullable=False),
        sa.Column("most", sa.Double(), nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("tries", sa.Integer(), nullable=False),
        sa.Column("next_at", _AT, nullable=False),
        sa.Column("held_until", _AT, nullable=True),
        sa.Column("error", sa.Text(), nullable=False),
        sa.Column("changed_at", _AT, nullable=False),
        sa.Column("sent_points", sa.Double(), nullable=True),
        sa.Column("sent_most", sa.Double(), nullable=True),
        sa.Column("sent_at", _AT, nullable=True),
        _reference("lti_scores", "link_id", "lti_links"),
        _reference("lti_scores", "user_id", "users"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_lti_scores")),
        sa.UniqueConstraint("link_id", "user_id", name=op.f("uq_lti_scores_link_id_user_id")),
    )
    op.create_index(op.f("ix_lti_scores_state_next_at"), "lti_scores", ["state", "next_at"])


def downgrade() -> None:
    for table in ("lti_scores", "lti_links", "lti_contexts", "lti_launches", "lti_platforms", "lti_keys"):
        op.drop_table(table)
