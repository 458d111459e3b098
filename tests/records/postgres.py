"""A throw-away PostgreSQL cluster on a unix socket, run by an ordinary user (the server refuses root)."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import create_engine, text

from tests.components import postgres_bin

_START_SECONDS = 30.0


@contextmanager
def cluster() -> Iterator[str]:
    """The SQLAlchemy URL of a running cluster, without a database name."""
    programs = Path(postgres_bin() or "")
    folder = Path(tempfile.mkdtemp(prefix="gpg", dir="/tmp"))
    who = pwd.getpwnam("postgres") if os.getuid() == 0 else pwd.getpwuid(os.getuid())
    if os.getuid() == 0:
        os.chown(folder, who.pw_uid, who.pw_gid)
    identity = {"user": who.pw_uid, "group": who.pw_gid, "extra_groups": []} if os.getuid() == 0 else {}
    data = folder / "data"
    subprocess.run(
        [programs / "initdb", "-D", data, "-U", "grader", "-A", "trust", "-E", "UTF8", "--no-sync"],
        check=True,
        capture_output=True,
        cwd=folder,
        **identity,
    )
    settings = ["listen_addresses=", f"unix_socket_directories={folder}", "fsync=off", "max_connections=100"]
    server = subprocess.Popen(
        [programs / "postgres", "-D", data, *(part for it in settings for part in ("-c", it))],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd=folder,
        start_new_session=True,
        **identity,
    )
    try:
        _wait(folder, server)
        yield f"postgresql+psycopg://grader@/{{name}}?host={folder}"
    finally:
        # Without the checkpoint of a quiet end: it would write out databases that are removed the next moment.
        server.send_signal(signal.SIGQUIT)
        server.wait(20)
        shutil.rmtree(folder, ignore_errors=True)


def _wait(folder: Path, server: subprocess.Popen[bytes]) -> None:
    engine = create_engine(f"postgresql+psycopg://grader@/postgres?host={folder}")
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


def new_database(url: str, name: str) -> str:
    """Create a database of that name; its URL."""
    engine = create_engine(url.format(name="postgres"), isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(text(f'CREATE DATABASE "{name}"'))
    engine.dispose()
    return url.format(name=name)
