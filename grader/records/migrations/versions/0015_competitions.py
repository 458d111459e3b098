"""Competitions: rules, teams and finals. Their submissions are on no other board."""

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None

_BOARD = "ix_submissions_board"
_RANKED = "verdict = 'accepted' AND time_us IS NOT NULL AND ci_lo_us IS NOT NULL AND ci_hi_us IS NOT NULL"
_COLUMNS = [
    *("challenge", "version", "device", "user_id", "time_us", "created_at", "id"),
    *("ci_lo_us", "ci_hi_us", "language", "verdict"),
]
# Column -> table.
_REFERENCES = {"competition_id": "competitions", "team_id": "competition_teams"}


def upgrade() -> None:
    _make_competitions()
    _make_challenges()
    _make_finals()
    _make_teams()
    _make_finalists()
    _make_registrations()
    for column, table in _REFERENCES.items():
        # SQLite adds a constraint only with its column.
        op.execute(
            f"ALTER TABLE submissions ADD COLUMN {column} INTEGER "
            f"CONSTRAINT fk_submissions_{column}_{table} REFERENCES {table} (id)"
        )
    op.add_column("submissions", sa.Column("machine", sa.String(length=255), nullable=True))
    _make_runs()
    _index_boards([*_COLUMNS, "competition_id"], f"{_RANKED} AND competition_id IS NULL")
    within = sa.text("competition_id IS NOT NULL")
    op.create_index(
        "ix_submissions_competition",
        "submissions",
        ["competition_id", "team_id", "challenge", "created_at", "id", "verdict", "finished_at"],
        sqlite_where=within,
        postgresql_where=within,
    )


def _index_boards(columns: list[str], condition: str) -> None:
    op.drop_index(_BOARD, table_name="submissions")
    where = sa.text(condition)
    op.create_index(_BOARD, "submissions", columns, sqlite_where=where, postgresql_where=where)


def _make_competitions() -> None:
    op.create_table(
        "competitions",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("slug", sa.String(length=64), nullable=False),
        sa.Column("title", sa.String(length=120), nullable=False),
        sa.Column("rules", sa.Text(), nullable=False),
        sa.Column("starts_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("ends_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("freeze_minutes", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("devices", sa.JSON(), nullable=False),
        sa.Column("languages", sa.JSON(), nullable=False),
        sa.Column("scoring", sa.String(length=16), nullable=False),
        sa.Column("registration", sa.String(length=16), nullable=False),
        sa.Column("invite_code", sa.String(length=16), nullable=False),
        sa.Column("team_size", sa.Integer(), server_default=sa.text("1"), nullable=False),
        sa.Column("cap_day", sa.Integer(), nullable=True),
        sa.Column("cap_total", sa.Integer(), nullable=True),
        sa.Column("code_shown", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("open_afterwards", sa.Boolean(), server_default=sa.true(), nullable=False),
        sa.Column("public_seed", sa.String(length=64), nullable=False),
        sa.Column("hidden_seed", sa.String(length=64), nullable=False),
        sa.Column("revision", sa.Integer(), server_default=sa.text("1"), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("published_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("results_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint("freeze_minutes >= 0", name=op.f("ck_competitions_freeze_is_not_negative")),
        sa.CheckConstraint("starts_at < ends_at", name=op.f("ck_competitions_starts_before_end")),
        sa.CheckConstraint("team_size >= 1", name=op.f("ck_competitions_team_has_a_member")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_competitions")),
        sa.UniqueConstraint("invite_code", name=op.f("uq_competitions_invite_code")),
        sa.UniqueConstraint("slug", name=op.f("uq_competitions_slug")),
    )


def _make_challenges() -> None:
    op.create_table(
        "competition_challenges",
        sa.Column("competition_id", sa.Integer(), nullable=False),
        sa.Column("challenge", sa.String(length=64), nullable=False),
        sa.Column("place", sa.Integer(), nullable=False),
        sa.Column("points", sa.Double(), nullable=False),
        sa.Column("hidden_workloads", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(
            ["competition_id"],
            ["competitions.id"],
            name=op.f("fk_competition_challenges_competition_id_competitions"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("competition_id", "challenge", name=op.f("pk_competition_challenges")),
    )
    op.create_index(
        op.f("ix_competition_challenges_challenge"), "competition_challenges", ["challenge"], unique=False
    )


def _make_finals() -> None:
    op.create_table(
        "competition_finals",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("competition_id", sa.Integer(), nullable=False),
        sa.Column("device", sa.String(length=32), nullable=False),
        sa.Column("machine", sa.String(length=255), nullable=False),
        sa.Column("repeats", sa.Integer(), nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("started_by", sa.Integer(), nullable=True),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["competition_id"],
            ["competitions.id"],
            name=op.f("fk_competition_finals_competition_id_competitions"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["started_by"],
            ["users.id"],
            name=op.f("fk_competition_finals_started_by_users"),
            ondelete="SET NULL",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_competition_finals")),
    )
    op.create_index(
        op.f("ix_competition_finals_competition_id"), "competition_finals", ["competition_id"], unique=False
    )


def _make_teams() -> None:
    op.create_table(
        "competition_teams",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("competition_id", sa.Integer(), nullable=False),
        sa.Column("mode", sa.String(length=16), nullable=False),
        sa.Column("name", sa.String(length=64), nullable=False),
        sa.Column("name_key", sa.String(length=64), nullable=False),
        sa.Column("join_code", sa.String(length=16), nullable=False),
        sa.Column("starts_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("ends_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("disqualified", sa.Text(), server_default="", nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["competition_id"],
            ["competitions.id"],
            name=op.f("fk_competition_teams_competition_id_competitions"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_competition_teams")),
        sa.UniqueConstraint(
            "competition_id",
            "mode",
            "name_key",
            name=op.f("uq_competition_teams_competition_id_mode_name_key"),
        ),
        sa.UniqueConstraint("join_code", name=op.f("uq_competition_teams_join_code")),
    )


def _make_finalists() -> None:
    op.create_table(
        "competition_finalists",
        sa.Column("competition_id", sa.Integer(), nullable=False),
        sa.Column("team_id", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["competition_id"],
            ["competitions.id"],
            name=op.f("fk_competition_finalists_competition_id_competitions"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["team_id"],
            ["competition_teams.id"],
            name=op.f("fk_competition_finalists_team_id_competition_teams"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("competition_id", "team_id", name=op.f("pk_competition_finalists")),
    )


def _make_registrations() -> None:
    op.create_table(
        "competition_registrations",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("competition_id", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("mode", sa.String(length=16), nullable=False),
        sa.Column("team_id", sa.Integer(), nullable=False),
        sa.Column("joined_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("left_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["competition_id"],
            ["competitions.id"],
            name=op.f("fk_competition_registrations_competition_id_competitions"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["team_id"],
            ["competition_teams.id"],
            name=op.f("fk_competition_registrations_team_id_competition_teams"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["user_id"],
            ["users.id"],
            name=op.f("fk_competition_registrations_user_id_users"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_competition_registrations")),
        sa.UniqueConstraint(
            "competition_id",
            "user_id",
            "mode",
            name=op.f("uq_competition_registrations_competition_id_user_id_mode"),
        ),
    )
    op.create_index(
        op.f("ix_competition_registrations_team_id"), "competition_registrations", ["team_id"], unique=False
    )
    op.create_index(
        op.f("ix_competition_registrations_user_id"), "competition_registrations", ["user_id"], unique=False
    )


def _make_runs() -> None:
    op.create_table(
        "competition_final_runs",
        sa.Column("final_id", sa.Integer(), nullable=False),
        sa.Column("team_id", sa.Integer(), nullable=False),
        sa.Column("challenge", sa.String(length=64), nullable=False),
        sa.Column("repeat", sa.Integer(), nullable=False),
        sa.Column("place", sa.Integer(), nullable=False),
        sa.Column("submission_id", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["final_id"],
            ["competition_finals.id"],
            name=op.f("fk_competition_final_runs_final_id_competition_finals"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["submission_id"],
            ["submissions.id"],
            name=op.f("fk_competition_final_runs_submission_id_submissions"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["team_id"],
            ["competition_teams.id"],
            name=op.f("fk_competition_final_runs_team_id_competition_teams"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint(
            "final_id", "team_id", "challenge", "repeat", name=op.f("pk_competition_final_runs")
        ),
        sa.UniqueConstraint("submission_id", name=op.f("uq_competition_final_runs_submission_id")),
    )


def downgrade() -> None:
    # Submissions to competitions go, their reports first.
    op.execute(
        "DELETE FROM reports WHERE submission_id IN "
        "(SELECT id FROM submissions WHERE competition_id IS NOT NULL)"
    )
    op.drop_table("competition_final_runs")
    op.execute("DELETE FROM submissions WHERE competition_id IS NOT NULL AND rejudge_of IS NOT NULL")
    op.execute("DELETE FROM submissions WHERE competition_id IS NOT NULL")
    _index_boards(_COLUMNS, _RANKED)
    op.drop_index("ix_submissions_competition", table_name="submissions")
    # In SQLite, rebuilding the table would delete all reports.
    with op.batch_alter_table("submissions", schema=None, recreate="never") as batch_op:
        for column in ("machine", "team_id", "competition_id"):
            batch_op.drop_column(column)
    for table in ("registrations", "finalists", "teams", "finals", "challenges"):
        op.drop_table(f"competition_{table}")
    op.drop_table("competitions")
