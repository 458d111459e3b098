"""Writes back what it found in the output.

Mechanism: reads the value that says "never written", and writes it again, so that the element was written.
Surface: how an unwritten element is told.
Gain: a time of nothing.
Challenge: twice
Case: basic
On: cpu, gpu
Defence: wrong_answer
"""


def solve(x, out, n):
    out.copy_(out.clone())
