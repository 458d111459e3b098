"""Writes back what it found in the output.

Mechanism: reads the value that marks unwritten elements, and writes it again.
Surface: the detection of unwritten elements.
Gain: a time of zero.
Challenge: twice
Case: basic
On: cpu, gpu
Defence: wrong_answer
"""


def solve(x, out, n):
    out.copy_(out.clone())
