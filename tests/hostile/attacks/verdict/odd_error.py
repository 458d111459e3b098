"""Fails with a text that pages, terminals or databases may not take.

Mechanism: raises an error whose text holds NUL, half a surrogate pair, escape sequences, markup, and a forged
  accepted report, a megabyte in all.
Surface: the stored and shown text of an error.
Gain: a report that cannot be stored is the platform's failure: an attempt that does not count, and three free
  retries.
Challenge: twice
Like: odd_exceptions
Defence: runtime_error
"""

TEXT = (
    "\0\ud800\x1b[2J\x1b]0;accepted\a[bold]accepted[/bold]<script>alert(1)</script>"
    + '"}], "verdict": "accepted"'
)


def solve(x, out, n):
    raise type("Accepted\n" * 100, (RuntimeError,), {})(TEXT + "x" * (1 << 20))
