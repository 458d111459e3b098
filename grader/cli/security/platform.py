"""The platform's own files and settings: who may read its secrets, and who may reach it."""

from __future__ import annotations

import os
import shlex
import stat
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from grader.cli.security.check import Check, Level
from grader.errors import GraderError

if TYPE_CHECKING:
    from grader.settings import Settings

AREA = "platform"
OTHERS = 0o077


def platform_checks() -> list[Check]:
    """Every check of the settings of this environment; one that says so where they cannot be read."""
    try:
        from grader.cli.configuration import load_settings

        settings = load_settings()
    except (GraderError, ModuleNotFoundError) as error:
        told = (
            error.message if isinstance(error, GraderError) else f"the Python package {error.name} is missing"
        )
        return [Check(AREA, "settings", Level.WARN, told, "Mend them first: the rest depends on them.")]
    return judge(settings)


def judge(settings: Settings) -> list[Check]:
    return [
        *files(settings.data_dir),
        boxes(settings),
        transport(settings),
        redis(settings.redis_url),
        who_runs_it(os.geteuid()),
    ]


def files(folder: Path) -> list[Check]:
    """The data folder, the database and every secret in it are its owner's alone."""
    if not folder.exists():
        return [Check(AREA, "data folder", Level.OK, f"{folder} is not made yet")]
    secrets = sorted((folder / "secrets").glob("*"))
    database = sorted(folder.glob("grader.sqlite3*"))
    return [
        _closed("data folder", [folder], "700"),
        *([_closed("database", database, "600")] if database else []),
        *([_closed("secrets", secrets, "600")] if secrets else []),
    ]


def _closed(name: str, paths: list[Path], mode: str) -> Check:
    if seen := [str(path) for path in paths if _mode(path) & OTHERS]:
        text = f"{', '.join(seen)}: other users of this host may look into it"
        return Check(AREA, name, Level.BAD, text, f"chmod {mode} {shlex.join(seen)}")
    return Check(
        AREA, name, Level.OK, f"{paths[0].parent if len(paths) > 1 else paths[0]}: its owner's alone"
    )


def boxes(settings: Settings) -> Check:
    """Plain processes are for one's own code."""
    kind = _kind(settings.box)
    if kind == "docker":
        return Check(AREA, "boxes", Level.OK, "submissions run in Docker boxes")
    if kind == "bubblewrap":
        from grader.sandbox.choose import why_not_exposed

        return bubblewrap(why_not_exposed(kind))
    if settings.sign_up in ("open", "domain"):
        text = "strangers may sign up, and submissions run as plain processes of this host"
        return Check(AREA, "boxes", Level.BAD, text, "Set GRADER_BOX=docker, or GRADER_SIGN_UP=closed.")
    text = "submissions run as plain processes of this host: for your own code only"
    return Check(AREA, "boxes", Level.WARN, text, "Set GRADER_BOX=docker where others submit.")


def bubblewrap(lacking: str) -> Check:
    """``lacking``: why these boxes are not for strangers, where they are not."""
    if lacking:
        mend = "Run workers as root, or in a part of control groups 2 that is theirs: see docs/boxes.md."
        return Check(AREA, "boxes", Level.WARN, f"submissions run in bubblewrap boxes, and {lacking}", mend)
    return Check(AREA, "boxes", Level.OK, "submissions run in bubblewrap boxes, bounded by control groups")


def transport(settings: Settings) -> Check:
    """Passwords and session cookies need TLS wherever they leave the machine."""
    from grader.service.exposure import is_loopback

    if settings.trusted_proxies:
        return Check(
            AREA, "transport", Level.OK, f"behind {settings.trusted_proxies}, and nobody else is believed"
        )
    if settings.proxies and not is_loopback(settings.host):
        text = "whoever connects past the proxy is believed, too: GRADER_PROXIES only counts hops"
        return Check(AREA, "transport", Level.WARN, text, "Name the proxy: GRADER_TRUSTED_PROXIES=ADDRESS.")
    if settings.proxies:
        text = f"behind {settings.proxies} proxies, whose word on TLS is believed: cookies are Secure where it is used"
        return Check(AREA, "transport", Level.OK, text)
    if is_loopback(settings.host):
        return Check(AREA, "transport", Level.OK, f"the web listens on {settings.host} alone")
    text = f"the web listens on {settings.host} without TLS: passwords, tokens and cookies can be read on their way"
    mend = "Put a proxy with TLS in front, set GRADER_PROXIES=1, and listen on 127.0.0.1."
    return Check(AREA, "transport", Level.BAD, text, mend)


def redis(url: str) -> Check:
    """Whoever writes to Redis can hold up the queue and clear the counts of attempts to sign in."""
    from grader.service.exposure import is_loopback

    parts = urlsplit(url)
    if not url or parts.scheme == "unix":
        return Check(AREA, "redis", Level.OK, "a unix socket")
    if is_loopback(parts.hostname or ""):
        return Check(AREA, "redis", Level.OK, "on this machine alone")
    if not parts.password:
        text = "on the network without a password: whoever reaches it can stop the queue and reset limits"
        return Check(
            AREA, "redis", Level.BAD, text, "Give Redis a password, and put it into GRADER_REDIS_URL."
        )
    if parts.scheme != "rediss":
        text = "on the network without TLS: its password can be read on its way"
        return Check(AREA, "redis", Level.WARN, text, "Use rediss:// or a private network.")
    return Check(AREA, "redis", Level.OK, "on the network, with password and TLS")


def who_runs_it(user: int) -> Check:
    if user:
        return Check(AREA, "user", Level.OK, f"grader runs as user {user}")
    mend = "Run it as a user of its own, who is in the group docker."
    return Check(AREA, "user", Level.WARN, "grader runs as root: a hole in it is a hole in the host", mend)


def _kind(box: str) -> str:
    if box != "auto":
        return box
    try:
        from grader.sandbox.choose import best_kind
    except ModuleNotFoundError:
        return "local"
    return best_kind()[0]


def _mode(path: Path) -> int:
    try:
        return stat.S_IMODE(path.stat().st_mode)
    except OSError:
        return 0
