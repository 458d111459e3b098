"""Runs of public cases, which lists and progress leave out."""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None

_HANDED_IN = "rejudge_of IS NULL"
_NO_RUN = "kind <> 'run'"
_RUN = "kind = 'run'"
_PROGRESS = ["user_id", "challenge", "version", "device", "state", "verdict", "speedup", "rejudge_of"]
_LATELY = ["claimed_at", "user_id", "state", "language", "rejudge_of"]
_VERDICTS = ["challenge", "language", "device", "verdict"]
_VERDICTS_NAME = "ix_submissions_challenge_language_device_verdict"
_HISTORIES = {
    "ix_submissions_history": ["user_id", "created_at", "id"],
    "ix_submissions_history_of_challenge": ["user_id", "challenge", "created_at", "id"],
    "ix_submissions_all_of_challenge": ["challenge", "created_at", "id"],
    "ix_submissions_all": ["created_at", "id"],
}
# name -> columns, condition
_Indexes = dict[str, tuple[list[str], str]]
_BEFORE: _Indexes = {
    **{name: (columns, _HANDED_IN) for name, columns in _HISTORIES.items()},
    "ix_submissions_progress": ([*_PROGRESS, "id"], ""),
    "ix_submissions_lately": (_LATELY, ""),
    _VERDICTS_NAME: (_VERDICTS, ""),
}
_AFTER: _Indexes = {
    **{name: (columns, f"{_HANDED_IN} AND {_NO_RUN}") for name, columns in _HISTORIES.items()},
    "ix_submissions_progress": ([*_PROGRESS, "kind", "id"], _NO_RUN),
    "ix_submissions_lately": ([*_LATELY, "kind"], ""),
    f"{_VERDICTS_NAME}_kind": ([*_VERDICTS, "kind"], ""),
    "ix_submissions_runs": (["user_id", "created_at", "id"], _RUN),
    "ix_submissions_runs_ended": (["finished_at"], _RUN),
}


def upgrade() -> None:
    _replace(_BEFORE, _AFTER)


def downgrade() -> None:
    """Delete runs: an earlier release would take them for submissions."""
    rows = sa.table("submissions", sa.column("id"), sa.column("kind"))
    reports = sa.table("reports", sa.column("submission_id"))
    runs = sa.select(rows.c.id).where(rows.c.kind == "run")
    op.execute(reports.delete().where(reports.c.submission_id.in_(runs)))
    op.execute(rows.delete().where(rows.c.kind == "run"))
    quotas = sa.table("quotas", sa.column("scope"))
    op.execute(quotas.delete().where(quotas.c.scope.in_(["running", "runs"])))
    _replace(_AFTER, _BEFORE)


def _replace(old: _Indexes, new: _Indexes) -> None:
    for name in old:
        op.drop_index(name, "submissions")
    for name, (columns, condition) in new.items():
        where = sa.text(condition) if condition else None
        op.create_index(name, "submissions", columns, sqlite_where=where, postgresql_where=where)
