"""Writes zeros.

Mechanism: fills the output with zeros, which a loose absolute tolerance takes for small numbers.
Surface: what is compared, and how closely.
Gain: the time of a fill.
Challenge: twice
Like: constant
Case: basic
On: cpu, gpu
Defence: wrong_answer
"""


def solve(x, out, n):
    out.zero_()
