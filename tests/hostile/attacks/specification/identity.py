"""Copies the input.

Mechanism: hands the input through; some references nearly do.
Surface: what is compared, and how closely.
Gain: the time of a copy.
Challenge: twice
Like: constant
Case: basic
On: cpu, gpu
Defence: wrong_answer
"""


def solve(x, out, n):
    out.copy_(x)
