"""Alembic's entry point. The connection comes from ``grader.records.schema``, in a transaction."""

from alembic import context

from grader.records.models import Base

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=Base.metadata,
    transactional_ddl=True,
    render_as_batch=True,
)
context.run_migrations()
