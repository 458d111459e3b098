"""Writes zeros.

Mechanism: fills the output with zeros, which a loose absolute tolerance accepts for small numbers.
Surface: the choice of compared elements, and their tolerance.
Gain: the time of a fill.
Challenge: twice
Like: constant
Case: basic
On: cpu, gpu
Defence: wrong_answer
"""


def solve(x, out, n):
    out.zero_()
