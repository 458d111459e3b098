"""Fails with a text that no page, terminal or database takes.

Mechanism: raises an error whose text holds NUL, half a surrogate pair, escape sequences, markup, and a report
  of its own that says accepted, a megabyte of it.
Surface: what is stored and shown of an error.
Gain: a report that cannot be stored is our failure: an attempt that does not count, and three more for nothing.
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
