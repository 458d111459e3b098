"""`batch`: many kernels at once."""

from __future__ import annotations

import hashlib
import json as jsonlib
import re
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, BinaryIO

import typer
from pydantic import ValidationError
from rich.text import Text

from grader import errors, limits
from grader.cli import options
from grader.cli.client import Client, connect, segment, understood
from grader.cli.command import make_app
from grader.cli.commands.submissions import RETRY_PAUSES
from grader.cli.output import EXIT_INTERRUPTED
from grader.cli.polling import until_done
from grader.cli.terminal import moment, put_columns, put_json, safe, say, tell
from grader.errors import BadRequest, Unreachable
from grader.formats import duration
from grader.schemas.batch import BatchList, BatchReceipt, BatchResult, BatchView
from grader.schemas.report import Verdict

app = make_app()

_KIND = "application/x-ndjson"
# A part fits a request, whatever its lines' lengths.
_PART_BYTES = limits.REQUEST_BYTES // 2
_PART_LINES = 500
# Between looks; longer if the server did not wait for a result.
_PAUSE_SECONDS = 1.0
_LONG_PAUSE_SECONDS = 5.0
_SAID_SECONDS = 10.0


@app.command()
def batch(
    file: Annotated[
        str | None,
        typer.Argument(
            metavar="[FILE]",
            help="A JSON object on each line: id, challenge, source; language, device, run. `-`: from stdin.",
        ),
    ] = None,
    name: Annotated[
        str | None,
        typer.Option(
            "--name", metavar="NAME", help="The batch to add to (default: a name by the file's contents)."
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            metavar="FILE",
            help="Write results there as JSON lines; goes on after those in it.",
        ),
    ] = None,
    cancel: Annotated[
        str | None, typer.Option("--cancel", metavar="ID", help="Cancel all of a batch that has not begun.")
    ] = None,
    timeout: options.Timeout = 0.0,
    json: Annotated[bool, typer.Option("--json", help="Print results as JSON lines, on stdout.")] = False,
    server: options.Server = None,
) -> int:
    """Submit many kernels, and print their results as they come.

    The same command goes on if it was interrupted: nothing is judged twice. Without a file it lists your batches.
    """
    client = connect()
    if cancel is not None:
        return _cancel(client, cancel, json)
    if file is None:
        return _list(client, json)
    raw = _read(file)
    receipt = _send(client, name or _name_of(file, raw), raw)
    sent = receipt.batch
    say(f"Batch {sent.id}: {receipt.new} new lines, {receipt.known} sent before.")
    if receipt.refused:
        say(f"Cannot be judged: {receipt.refused} of them; the results say why.", "yellow")
    try:
        with _target(client, sent.id, output, json) as target:
            view = _follow(client, sent.id, target, timeout)
    except KeyboardInterrupt:
        say(
            "The batch goes on without you. Read on with the same command; end it with: "
            f"grader batch --cancel {sent.id}",
            "bold",
        )
        return EXIT_INTERRUPTED
    if output is not None and json:
        put_json(view)
    say(f"Batch {view.id} has ended: {_counts(view)}.")
    return exit_code(view)


def exit_code(view: BatchView) -> int:
    """The worst: our failures, lines that were not judged, kernels that are not accepted."""
    if view.counts.get(Verdict.INTERNAL_ERROR.value):
        return errors.EXIT_OUR_FAILURE
    if view.counts.get("refused") or view.counts.get("cancelled"):
        return errors.EXIT_USAGE
    others = set(view.counts) - {Verdict.ACCEPTED.value}
    return errors.EXIT_NOT_ACCEPTED if others else errors.EXIT_ACCEPTED


def _cancel(client: Client, batch: str, json: bool) -> int:
    view = understood(BatchView, client.post(f"/batches/{segment(batch)}/cancel"))
    if json:
        put_json(view)
    else:
        going_on = f" {view.open} that have begun go on." if view.open else ""
        tell(f"{view.id} is cancelled.{going_on}")
    return errors.EXIT_ACCEPTED


def _list(client: Client, json: bool) -> int:
    found = understood(BatchList, client.get("/batches"))
    if json:
        put_json(found)
        return errors.EXIT_ACCEPTED
    views = found.batches
    put_columns(
        {
            "batch": [safe(view.id, "cyan") for view in views],
            "name": [safe(view.name) for view in views],
            "results": [Text(f"{view.ended}/{view.total}") for view in views],
            "of them": [safe(_counts(view)) for view in views],
            "sent": [Text(moment(view.created_at)) for view in views],
        },
        optional=("sent", "of them"),
    )
    return errors.EXIT_ACCEPTED


def _read(file: str) -> bytes:
    """Raises BadRequest."""
    try:
        raw = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
    except OSError as error:
        raise BadRequest(f"'{file}' cannot be read: {error.strerror}.") from error
    if len(raw) > limits.BATCH_BYTES:
        raise BadRequest(
            f"{file} has {len(raw):,} bytes; a batch takes at most {limits.BATCH_BYTES:,}.",
            "Split the file by lines.",
        )
    return raw


def _name_of(file: str, raw: bytes) -> str:
    """The same file is the same batch, wherever it is."""
    stem = re.sub(r"[^A-Za-z0-9._-]+", "-", "" if file == "-" else Path(file).stem).strip(".-_")
    digest = hashlib.sha256(raw).hexdigest()[:16]
    return f"{stem[:32]}-{digest}" if stem else digest


def _send(client: Client, name: str, raw: bytes) -> BatchReceipt:
    """Raises BadRequest, Unreachable, and the server's errors."""
    total: BatchReceipt | None = None
    for first, part in _parts(raw):
        got = understood(BatchReceipt, _post(client, part, name=name, first_line=first))
        if total is not None:
            added = {key: getattr(total, key) + getattr(got, key) for key in ("new", "known", "refused")}
            got = got.model_copy(update=added)
        total = got
    if total is None:
        raise BadRequest("There is no line in it.", "Write one JSON object on each line.")
    return total


def _parts(raw: bytes) -> Iterator[tuple[int, bytes]]:
    part: list[bytes] = []
    first, size = 1, 0
    for number, line in enumerate(raw.split(b"\n"), 1):
        # The server says of a longer line that it is too long.
        line = line[: limits.BATCH_LINE_BYTES + 1]
        if part and (size + len(line) > _PART_BYTES or len(part) == _PART_LINES):
            yield first, b"\n".join(part)
            part, size = [], 0
        if part or line.strip():
            first = first if part else number
            part.append(line)
            size += len(line) + 1
    if part:
        yield first, b"\n".join(part)


def _post(client: Client, part: bytes, **query: object) -> Any:
    # Lines that arrived are known: sending them again is safe.
    for pause in RETRY_PAUSES:
        try:
            return client.post_text("/batches", part, _KIND, **query)
        except Unreachable as error:
            say(f"{error.message} Sending it again in {pause:g} s.", "yellow")
            time.sleep(pause)
    return client.post_text("/batches", part, _KIND, **query)


@dataclass
class _Target:
    """Takes results; ``last`` is the number of the last one."""

    put: Callable[[str], None]
    last: int = 0

    def take(self, line: str) -> None:
        result = _understood(line)
        if result.number > self.last:
            self.put(line)
            self.last = result.number


def _target(client: Client, batch: str, output: Path | None, json: bool) -> AbstractContextManager[_Target]:
    if output is None:
        return nullcontext(_Target(_print_line if json else _print))
    return _File(client, batch, output)


class _File(AbstractContextManager[_Target]):
    """Raises BadRequest: it cannot be written, or holds another batch's results."""

    def __init__(self, client: Client, batch: str, path: Path) -> None:
        try:
            self._file: BinaryIO = path.open("a+b")
        except OSError as error:
            raise BadRequest(f"'{path}' cannot be written: {error.strerror}.") from error
        self._target = _Target(self._put, self._last(client, batch, path))

    def __enter__(self) -> _Target:
        return self._target

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def _put(self, line: str) -> None:
        self._file.write(f"{line}\n".encode())
        self._file.flush()

    def _last(self, client: Client, batch: str, path: Path) -> int:
        self._file.seek(0)
        whole = self._file.read()
        had = whole[: whole.rfind(b"\n") + 1]
        # A line that an interruption cut off.
        self._file.truncate(len(had))
        if not had:
            return 0
        last = had.decode("utf-8", "replace").rstrip("\n").rpartition("\n")[2]
        number = _number(last)
        if number < 1 or client.lines(f"/batches/{batch}/results", after=number - 1, limit=1) != [last]:
            self._file.close()
            raise BadRequest(
                f"'{path}' does not end with a result of this batch.",
                "Name another file with --out, or move it.",
            )
        return number


def _number(line: str) -> int:
    try:
        return BatchResult.model_validate_json(line).number
    except ValidationError:
        return 0


def _understood(line: str) -> BatchResult:
    try:
        answer = jsonlib.loads(line)
    except ValueError:
        answer = None
    return understood(BatchResult, answer)


def _print_line(line: str) -> None:
    sys.stdout.write(f"{jsonlib.dumps(jsonlib.loads(line))}\n")
    sys.stdout.flush()


def _print(line: str) -> None:
    result = _understood(line)
    name = result.id or f"line {result.line}"
    if result.error is not None:
        tell(f"{name}: {result.error.message} {result.error.hint}".rstrip(), "yellow")
        return
    outcome = result.verdict.value if result.verdict else str(result.state)
    took = f", {duration(result.time_us)}" if result.time_us is not None else ""
    tell(f"{name}: {outcome}{took}{f' ({result.submission})' if result.submission else ''}")


def _follow(client: Client, batch: str, target: _Target, timeout: float) -> BatchView:
    """Raises TimedOut, Unreachable."""
    said, shown = "", 0.0
    began = asked = time.monotonic()

    def ask() -> tuple[bool, BatchView]:
        nonlocal asked
        asked = time.monotonic()
        # Not beyond the time that is left.
        left = max(0.0, began + timeout - asked) if timeout else limits.BATCH_WAIT_SECONDS
        longest = min(limits.BATCH_WAIT_SECONDS, left)
        found = client.lines(f"/batches/{batch}/results", after=target.last, wait=longest)
        for line in found:
            target.take(line)
        return bool(found), understood(BatchView, client.get(f"/batches/{batch}"))

    def pause(answer: tuple[bool, BatchView]) -> float | None:
        nonlocal said, shown
        news, view = answer
        if view.finished_at is not None and target.last >= view.ended:
            return None
        line = f"Ended: {view.ended} of {view.total}; in the queue: {view.open}. {view.held_for}".rstrip()
        if line != said and time.monotonic() - shown >= _SAID_SECONDS:
            say(line, "dim")
            said, shown = line, time.monotonic()
        waited = time.monotonic() - asked >= _PAUSE_SECONDS
        return _PAUSE_SECONDS if news or waited else _LONG_PAUSE_SECONDS

    late = errors.TimedOut(
        f"The batch {batch} was not done within {timeout:g} s.",
        "It continues. Read on with the same command.",
    )
    return until_done(ask, pause, timeout=timeout, late=late)[1]


def _counts(view: BatchView) -> str:
    return (
        ", ".join(f"{count} {kind.replace('_', ' ')}" for kind, count in sorted(view.counts.items()))
        or "nothing"
    )
