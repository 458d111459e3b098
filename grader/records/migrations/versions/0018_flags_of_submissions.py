"""A table of flags and an index of verdicts, for lists of submissions."""

import json

import sqlalchemy as sa
from alembic import op

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None

_HANDED_IN = "rejudge_of IS NULL AND kind <> 'run'"
_BATCH = 500


def upgrade() -> None:
    op.create_table(
        "submission_flags",
        sa.Column("submission_id", sa.Integer(), nullable=False),
        sa.Column("flag", sa.String(length=24), nullable=False),
        sa.Column("received_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["submission_id"],
            ["submissions.id"],
            name=op.f("fk_submission_flags_submission_id_submissions"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("submission_id", "flag", name=op.f("pk_submission_flags")),
    )
    op.create_index(
        op.f("ix_submission_flags_flag_received_at_submission_id"),
        "submission_flags",
        ["flag", "received_at", "submission_id"],
    )
    op.create_index(
        "ix_submissions_all_of_verdict",
        "submissions",
        ["verdict", "created_at", "id"],
        sqlite_where=sa.text(_HANDED_IN),
        postgresql_where=sa.text(_HANDED_IN),
    )
    _fill()


def _fill() -> None:
    """From the stored reports, in pieces: they are large."""
    connection = op.get_bind()
    last = 0
    while True:
        rows = connection.execute(
            sa.text(
                "SELECT s.id, r.body FROM reports r JOIN submissions s"
                " ON s.id = r.submission_id AND s.attempt = r.attempt"
                ' WHERE s.id > :last AND r.body LIKE \'%"flags":["%\' ORDER BY s.id LIMIT :most'
            ),
            {"last": last, "most": _BATCH},
        ).all()
        if not rows:
            return
        last = rows[-1][0]
        for number, body in rows:
            for flag in dict.fromkeys(json.loads(body).get("flags", ())):
                # The time as stored, in either database's form.
                connection.execute(
                    sa.text(
                        "INSERT INTO submission_flags (submission_id, flag, received_at)"
                        " SELECT id, :flag, created_at FROM submissions WHERE id = :number"
                    ),
                    {"flag": flag, "number": number},
                )


def downgrade() -> None:
    op.drop_index("ix_submissions_all_of_verdict", "submissions")
    op.drop_table("submission_flags")
