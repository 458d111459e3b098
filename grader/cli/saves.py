from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from grader.cli.output import EXIT_INTERRUPTED
from grader.cli.terminal import say
from grader.errors import GraderError

_LOOK_SECONDS = 0.25


def on_each_save(file: Path, once: Callable[[], int], pause: Callable[[float], None] = time.sleep) -> int:
    """Runs now and after each save, until Ctrl+C. Returns the last result. An error ends nothing: the next
    save may mend it.
    """
    code = EXIT_INTERRUPTED
    try:
        while True:
            before = _stamp(file)
            try:
                ended = once()
                if ended == EXIT_INTERRUPTED:
                    return code
                code = ended
            except GraderError as error:
                say(error.told, "red")
                code = error.exit_code
            say(f"Waiting for {file} to be saved; Ctrl+C ends it.", "dim")
            # The file is missing for a moment if an editor replaces it.
            while _stamp(file) in (before, None):
                pause(_LOOK_SECONDS)
    except KeyboardInterrupt:
        return code


def _stamp(file: Path) -> tuple[int, int, int] | None:
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino
