"""A throw-away PostgreSQL cluster on a unix socket, run by an ordinary user (the server refuses root), and
databases in it that are copies of one that was migrated once.
"""

from __future__ import annotations

import itertools
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import psycopg
from sqlalchemy import NullPool, create_engine, make_url, text

from grader.records.engine import make_engine
from grader.records.schema import upgrade
from tests.components import postgres_bin

_START_SECONDS = 30.0
_END_SECONDS = 60.0
TEMPLATE = "migrated"
_VERSION = "alembic_version"
_TABLES = "SELECT tablename FROM pg_tables WHERE schemaname = 'public'"


@contextmanager
def cluster(
    port: int | None = None, tls: bool = False, listen: str = "127.0.0.1", prefix: Sequence[str] = ()
) -> Iterator[str]:
    """The SQLAlchemy URL of a running cluster, to be formatted with the ``name`` of a database.

    With ``port`` it also listens on that port of ``listen``, and trusts every client's user name (with
    ``tls`` with a certificate for localhost, ``server.crt`` in the folder of its socket). ``prefix``: a
    program with which root starts the server, and which execs its arguments.
    """
    programs = Path(postgres_bin() or "")
    folder = Path(tempfile.mkdtemp(prefix="gpg", dir="/tmp"))
    who = pwd.getpwnam("postgres") if os.getuid() == 0 else pwd.getpwuid(os.getuid())
    if os.getuid() == 0:
        os.chown(folder, who.pw_uid, who.pw_gid)
        folder.chmod(0o755)
    identity = {"user": who.pw_uid, "group": who.pw_gid, "extra_groups": []} if os.getuid() == 0 else {}
    data = folder / "data"
    subprocess.run(
        [programs / "initdb", "-D", data, "-U", "grader", "-A", "trust", "-E", "UTF8", "--no-sync"],
        check=True,
        capture_output=True,
        cwd=folder,
        **identity,
    )
    settings = [
        f"unix_socket_directories={folder}",
        f"listen_addresses={listen if port else ''}",
        # Nothing here outlives the server, so nothing must reach the disk.
        *("fsync=off", "synchronous_commit=off", "full_page_writes=off", "max_connections=200"),
    ]
    if port:
        settings.append(f"port={port}")
        with (data / "pg_hba.conf").open("a") as rules:
            rules.write("host all all all trust\n")
    if tls:
        for path in certificate(folder, "localhost"):
            os.chown(path, who.pw_uid, who.pw_gid)
        settings += ["ssl=on", f"ssl_cert_file={folder}/server.crt", f"ssl_key_file={folder}/server.key"]
    command = [
        str(programs / "postgres"),
        "-D",
        str(data),
        *(part for setting in settings for part in ("-c", setting)),
    ]
    if prefix:
        become = ["setpriv", f"--reuid={who.pw_uid}", f"--regid={who.pw_gid}", "--clear-groups"]
        command, identity = [*prefix, *become, *command], {}
    server = subprocess.Popen(
        command,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd=folder,
        start_new_session=True,
        **identity,
    )
    try:
        url = f"postgresql+psycopg://grader@/{{name}}?host={folder}" + (f"&port={port}" if port else "")
        _wait(url, server)
        yield url
    finally:
        # Skips the checkpoint of a clean shutdown, which would write databases that are then removed.
        server.send_signal(signal.SIGQUIT)
        server.wait(_END_SECONDS)
        shutil.rmtree(folder, ignore_errors=True)


def _wait(url: str, server: subprocess.Popen[bytes]) -> None:
    engine = create_engine(url.format(name="postgres"))
    deadline = time.monotonic() + _START_SECONDS
    while True:
        try:
            with engine.connect():
                break
        except Exception:
            if time.monotonic() > deadline or server.poll() is not None:
                raise
            time.sleep(0.05)
    engine.dispose()


def free_port() -> int:
    """A port of 127.0.0.1 that was free a moment ago."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


def certificate(folder: Path, name: str) -> tuple[Path, Path]:
    """A self-signed certificate for ``name`` and its key: server.crt and server.key in ``folder``."""
    made, key = folder / "server.crt", folder / "server.key"
    command = [
        "openssl",
        "req",
        "-x509",
        "-newkey",
        "rsa:2048",
        "-nodes",
        "-days",
        "2",
        "-subj",
        f"/CN={name}",
    ]
    command += ["-addext", f"subjectAltName=DNS:{name},IP:127.0.0.1", "-out", str(made), "-keyout", str(key)]
    subprocess.run(command, check=True, capture_output=True)
    key.chmod(0o600)
    return made, key


def new_database(url: str, name: str, template: str = "template0") -> str:
    """A copy of ``template``; returns its URL."""
    _order(url, f'CREATE DATABASE "{name}" TEMPLATE "{template}"')
    return url.format(name=name)


def make_template(url: str) -> None:
    """Migrate the database ``TEMPLATE``: copying it takes half the time of a migration."""
    engine = make_engine(new_database(url, TEMPLATE))
    upgrade(engine)
    engine.dispose()


def drop_database(url: str) -> None:
    """Drop the database even if somebody is connected: a thousand would fill the disk."""
    parsed = make_url(url)
    server = parsed.set(database="{name}").render_as_string(hide_password=False)
    _order(server.replace("%7Bname%7D", "{name}"), f'DROP DATABASE "{parsed.database}" WITH (FORCE)')


# A single number that every migration changes.
_SCHEMA = """
SELECT md5(string_agg(it, ' ' ORDER BY it)) FROM (
    SELECT concat(attrelid::regclass, attname, atttypid, atttypmod, attnotnull) AS it
    FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
    WHERE relnamespace = 'public'::regnamespace AND attnum > 0
    UNION ALL SELECT indexdef FROM pg_indexes WHERE schemaname = 'public'
    UNION ALL SELECT concat(conrelid::regclass, pg_get_constraintdef(oid)) FROM pg_constraint
    WHERE connamespace = 'public'::regnamespace
) AS parts
"""
_LEAVE = "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = current_database() AND pid <> %s"
_SEQUENCES = """
SELECT setval(format('%I.%I', schemaname, sequencename), start_value, false)
FROM pg_sequences WHERE last_value IS NOT NULL
"""


class Copies:
    """A returned copy is emptied and reused, which takes a tenth of the time of a new one."""

    def __init__(self, server: str) -> None:
        self._server = server
        self._numbers = itertools.count()
        self._idle: list[str] = []
        with _connect(server.format(name=TEMPLATE)) as connection:
            self._schema = connection.execute(_SCHEMA).fetchone()
            tables = [name for (name,) in connection.execute(_TABLES)]
            rows = {name: connection.execute(f'SELECT * FROM "{name}"').fetchall() for name in tables}
        self._tables = [name for name in tables if name != _VERSION]
        self._version = rows.pop(_VERSION)
        assert not any(rows.values()), "migrations fill a table: it would have to be filled again"

    def take(self) -> str:
        """The URL of a database that equals the template."""
        if self._idle:
            return self._idle.pop()
        return new_database(self._server, f"copy{next(self._numbers)}", TEMPLATE)

    def give_back(self, url: str) -> None:
        """Empty it, or drop it if a test changed more than rows."""
        try:
            as_before = self._empty(url)
        except psycopg.Error:
            as_before = False
        if as_before:
            self._idle.append(url)
        else:
            drop_database(url)

    def _empty(self, url: str) -> bool:
        with _connect(url) as connection:
            connection.execute(_LEAVE, [connection.info.backend_pid])
            if connection.execute(_SCHEMA).fetchone() != self._schema:
                return False
            if connection.execute(f"SELECT * FROM {_VERSION}").fetchall() != self._version:
                return False
            # All tables are emptied, so references between them need no check.
            connection.execute("SET session_replication_role = replica")
            for table in self._tables:
                connection.execute(f'DELETE FROM "{table}"')
            connection.execute(_SEQUENCES)
        return True


def _connect(url: str) -> psycopg.Connection:
    plain = make_url(url).set(drivername="postgresql").render_as_string(hide_password=False)
    return psycopg.connect(plain, autocommit=True)


def _order(url: str, statement: str) -> None:
    engine = create_engine(url.format(name="postgres"), isolation_level="AUTOCOMMIT", poolclass=NullPool)
    with engine.connect() as connection:
        connection.execute(text(statement))
