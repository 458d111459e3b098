from __future__ import annotations

import secrets
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import DateTime, Dialect, Double, Enum, MetaData, String, TypeDecorator
from sqlalchemy.orm import DeclarativeBase

from grader.languages import Language
from grader.schemas.verdict import VerdictWord

# Without i, l, o and u, so ids can be read out and typed. 50 bits: nobody guesses one, and they do not
# collide.
ID_LETTERS = "0123456789abcdefghjkmnpqrstvwxyz"
PUBLIC_ID_CHARS = 10


def utcnow() -> datetime:
    return datetime.now(UTC)


def new_public_id() -> str:
    return "".join(secrets.choice(ID_LETTERS) for _ in range(PUBLIC_ID_CHARS))


class UtcDateTime(TypeDecorator[datetime]):
    """Aware. SQLite has no zones: its times are read as UTC."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError("a time without a zone")
        return value.astimezone(UTC)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


class VerdictColumn(TypeDecorator[VerdictWord]):
    """As text: a new verdict needs no migration."""

    impl = String
    cache_ok = True

    def __init__(self, kind: type[VerdictWord], length: int) -> None:
        super().__init__(length)
        self.kind = kind

    def process_bind_param(self, value: VerdictWord | None, dialect: Dialect) -> str | None:
        return None if value is None else self.kind(value).value

    def process_result_value(self, value: str | None, dialect: Dialect) -> VerdictWord | None:
        return None if value is None else self.kind(value)


def words(kind: type[Any], length: int) -> Enum:
    """As text: new members need no migration."""
    return Enum(
        kind, native_enum=False, length=length, values_callable=lambda members: [m.value for m in members]
    )


class LanguageName(TypeDecorator[Language]):
    """As text: a new language needs no migration."""

    impl = String(16)
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        return None if value is None else Language.named(value).value

    def process_result_value(self, value: str | None, dialect: Dialect) -> Language | None:
        return None if value is None else Language.named(value)


class Base(DeclarativeBase):
    type_annotation_map = {float: Double}  # noqa: RUF012 - SQLAlchemy's own declaration
    metadata = MetaData(
        naming_convention={
            "ix": "ix_%(table_name)s_%(column_0_N_name)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
            "ck": "ck_%(table_name)s_%(constraint_name)s",
            "fk": "fk_%(table_name)s_%(column_0_name)s_%(referred_table_name)s",
            "pk": "pk_%(table_name)s",
        }
    )
