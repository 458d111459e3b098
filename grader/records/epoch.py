from __future__ import annotations

from typing import Any

from sqlalchemy import Double
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement


class Seconds(FunctionElement[float]):
    """Seconds since 1970."""

    type = Double()
    inherit_cache = True


@compiles(Seconds)
def _seconds(element: Seconds, compiler: SQLCompiler, **words: Any) -> str:
    return f"EXTRACT(EPOCH FROM {compiler.process(element.clauses, **words)})"


@compiles(Seconds, "sqlite")
def _seconds_of_sqlite(element: Seconds, compiler: SQLCompiler, **words: Any) -> str:
    return f"((julianday({compiler.process(element.clauses, **words)}) - 2440587.5) * 86400.0)"
