"""The server and the token: from flags, environment or settings, else as kept by `grader login`.

`grader challenges --json` must start fast: no pathlib and no pydantic.
"""

from __future__ import annotations

import contextlib
import json
import os

from grader.cli import config
from grader.errors import BadRequest

DEFAULT_SERVER = "http://127.0.0.1:8000"


def path() -> str:
    return os.path.join(config.folder(), "client.json")  # noqa: PTH118


def chosen_server() -> str | None:
    return config.text("server") or _kept().get("server") or None


def server() -> str:
    """Without a trailing slash."""
    return (chosen_server() or DEFAULT_SERVER).rstrip("/")


def token() -> str | None:
    """A kept token is sent only to the server that issued it."""
    if from_environment := os.environ.get("GRADER_TOKEN"):
        if not (from_environment.isascii() and from_environment.isprintable()):
            raise BadRequest(
                "GRADER_TOKEN is not a token: it has characters that no token has.",
                "Unset it, then: grader login",
            )
        return from_environment
    kept = _kept()
    return kept.get("token") if kept.get("server", "").rstrip("/") == server() else None


def name() -> str | None:
    """None for a token of the environment."""
    kept = _kept()
    return kept.get("name") if kept.get("server", "").rstrip("/") == server() else None


def keep(server: str, name: str, token: str) -> None:
    """The file has mode 0600 from its first byte."""
    folder = os.path.dirname(path())  # noqa: PTH120
    os.makedirs(folder, mode=0o700, exist_ok=True)  # noqa: PTH103
    partial = f"{path()}.{os.getpid()}"
    descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w") as file:
        json.dump({"server": server.rstrip("/"), "name": name, "token": token}, file)
    os.replace(partial, path())  # noqa: PTH105


def forget() -> bool:
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path())  # noqa: PTH108
        return True
    return False


def _kept() -> dict[str, str]:
    try:
        with open(path(), encoding="utf-8") as file:  # noqa: PTH123
            kept = json.load(file)
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise BadRequest(
            f"{path()} cannot be read: {error}", "Remove it and `grader login` again."
        ) from error
    if not isinstance(kept, dict):
        raise BadRequest(f"{path()} is not a login file.", "Remove it and `grader login` again.")
    return {key: value for key, value in kept.items() if isinstance(value, str)}
