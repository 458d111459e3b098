"""`verify`: check that a platform signed a certificate."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from grader import certificate
from grader.cli import options
from grader.cli.client import Client, connect, segment, understood
from grader.cli.command import make_app
from grader.cli.terminal import put_json, say, tell
from grader.errors import EXIT_ACCEPTED, EXIT_NOT_ACCEPTED, EXIT_NOT_ALLOWED, BadRequest, Conflict, NotFound
from grader.formats import duration
from grader.schemas.certificate import SignedCertificate, SigningKey, Verified

app = make_app(remote=True)

# A certificate of 26 challenges and 51 repeats has a few megabytes.
_BYTES = 64 * 1024 * 1024
# If a certificate was made again, all values differ.
_SHOWN = 20


@app.command()
def verify(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The certificate.")],
    key: Annotated[
        str | None,
        typer.Option(
            "--key",
            metavar="KEY",
            help="The platform's public key: a file that holds it, or the key itself.",
        ),
    ] = None,
    online: Annotated[
        bool,
        typer.Option(
            "--online",
            help="Also ask the platform if the result is still valid; the key must then be the platform's.",
        ),
    ] = False,
    json: options.Json = False,
) -> int:
    """Check a certificate of a result, without a server.

    Exit codes: 0 genuine; 1 changed, signed by another key, or with --online no longer valid; 2 not a certificate;
    3 unchanged, but signed by an unknown key: use --key or --online.
    """
    text = _read(file)
    client = connect() if online else None
    trusted = None
    if key is not None:
        trusted = certificate.read_key(_key_text(key))
    elif client is not None:
        trusted = certificate.read_key(_platform_key(client))
    try:
        checked = certificate.check(text, trusted)
    except BadRequest as error:
        raise BadRequest(f"{file}: {error.message}", error.hint) from error
    lines = [] if checked.problems else _lines(file, checked.certificate)
    changes = _changes(client, checked) if client is not None and checked.genuine else None
    found = Verified(
        genuine=checked.genuine,
        intact=not checked.problems,
        key_id=checked.key_id,
        key_known=checked.key_known,
        problems=list(checked.problems),
        stands=None if changes is None else not changes,
        changes=list(changes or ()),
    )
    if json:
        put_json(found)
    else:
        _show(lines, found)
    if found.problems or found.changes:
        return EXIT_NOT_ACCEPTED
    return EXIT_ACCEPTED if found.genuine else EXIT_NOT_ALLOWED


def _platform_key(client: Client) -> str:
    return understood(SigningKey, client.get("/signing-key")).key


def _changes(client: Client, checked: certificate.Checked) -> tuple[str, ...]:
    said = checked.certificate
    path = f"/competitions/{segment(said['competition']['slug'])}/teams/{segment(said['team']['name'])}/certificate"
    try:
        now = understood(SignedCertificate, client.get(path))
    except (NotFound, Conflict) as error:
        return (f"The platform no longer gives this certificate. {error.message}",)
    return certificate.superseded(said, now.certificate)


def _read(file: Path) -> str:
    try:
        if file.stat().st_size > _BYTES:
            raise BadRequest(f"{file} is too large for a certificate.")
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not text"
        raise BadRequest(f"'{file}' cannot be read: {why}.") from error


def _key_text(key: str) -> str:
    path = Path(key)
    try:
        if not path.is_file() and path.suffix:
            raise BadRequest(
                f"There is no file '{key}'.", "Download the platform's key from /signing-key.pem."
            )
        return path.read_text(encoding="utf-8") if path.is_file() else key
    except (OSError, ValueError) as error:  # a key used as a file name
        raise BadRequest(f"{key} cannot be read: {error}.") from error


def _show(lines: Sequence[str], found: Verified) -> None:
    if found.problems:
        for problem in found.problems[:_SHOWN]:
            tell(problem)
        if (more := len(found.problems) - _SHOWN) > 0:
            tell(f"And {more} more.")
        say("This certificate is not what the platform signed.", "red")
        return
    for line in lines:
        tell(line)
    if found.genuine:
        say(f"Genuine: signed by the key {found.key_id}.", "green")
        for change in found.changes:
            say(change, "red")
        if found.stands is not None:
            told = (
                "The result is still valid."
                if found.stands
                else "The result is no longer valid as it was signed."
            )
            say(told, "green" if found.stands else "red")
    else:
        say(f"Unchanged since the key {found.key_id} signed it.", "yellow")
        say(
            "Anybody can make a key: pass the platform's key (its /signing-key.pem) with --key, or use --online.",
            "yellow",
        )


def _lines(file: Path, said: Any) -> list[str]:
    """Raises BadRequest for other contents: anybody can sign anything."""
    try:
        return _said(said)
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
        raise BadRequest(
            f"{file}: It is not a certificate that this release can read.",
            "Use the file exactly as the platform gave it.",
        ) from error


def _said(said: Any) -> list[str]:
    competition, result, final = said["competition"], said["result"], said["final"]
    rank = f"rank {result['rank']}" if result["rank"] is not None else "no rank"
    lines = [
        f"{said['team']['name']}: {rank} of {result['finalists']} finalists in {competition['title']} "
        f"({competition['slug']}), {competition['ends_at'][:10]}",
        f"members: {', '.join(said['team']['members']) or 'none'}",
        f"judged {final['repeats']} times on {final['machine']} ({final['device']})",
    ]
    for entry in said["challenges"]:
        time = duration(entry["time_us"]) if entry["time_us"] is not None else entry["failed"] or "no time"
        repeats = entry.get("repeats", [])
        unknown = [str(each["repeat"]) for each in repeats if each["time_us"] is None]
        if unknown and entry["time_us"] is not None:
            time += (
                f", the median of {len(repeats) - len(unknown)} of {len(repeats)} repeats; "
                f"no time was measured in {', '.join(unknown)}"
            )
        lines.append(f"{entry['challenge']} version {entry['version']}, {entry['language']}: {time}")
        lines.append(f"  source SHA-256 {entry['source_sha256']}")
    return lines
